/** Owns the reading of what a host says to a chat: data of the right shape, or null. It never throws. */

import type { ChatMessage, Output, ToolCall } from '../protocol.gen.js';

export type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
export const textOr = <T>(value: unknown, otherwise: T): string | T => (typeof value === 'string' ? value : otherwise);
export const countOr = <T>(value: unknown, otherwise: T): number | T =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise;

function oneOf<T extends string>(value: unknown, choices: readonly T[], otherwise: T): T {
  return choices.includes(value as T) ? (value as T) : otherwise;
}

export const readSource = (value: unknown): 'user' | 'applet' | 'agent' => oneOf(value, ['user', 'applet', 'agent'], 'user');
export const readStatus = (value: unknown): 'done' | 'queued' | 'running' => oneOf(value, ['done', 'queued', 'running'], 'done');

export function readCall(value: unknown): ToolCall | null {
  if (!isObject(value) || typeof value['id'] !== 'string' || typeof value['name'] !== 'string') return null;
  const { id, name, done } = value;
  return { id, name, arguments: value['arguments'] ?? null, result: value['result'] ?? null, error: textOr(value['error'], null), done: done === true };
}

export function readOutput(value: unknown): Output | null {
  if (!isObject(value) || typeof value['name'] !== 'string' || typeof value['mime'] !== 'string') return null;
  return { name: value['name'], mime: value['mime'], title: textOr(value['title'], '') };
}

function readAll<T>(value: unknown, read: (item: unknown) => T | null): T[] {
  return Array.isArray(value) ? value.map(read).filter((item) => item !== null) : [];
}

function readMessage(value: unknown): Required<ChatMessage> | null {
  if (!isObject(value)) return null;
  const { role, streamId, content } = value;
  const index = countOr(value['index'], null);
  if (index === null || (role !== 'user' && role !== 'assistant') || typeof streamId !== 'string' || typeof content !== 'string') return null;
  return {
    ...{ index, role, streamId, content },
    source: role === 'assistant' ? 'assistant' : readSource(value['source']),
    timestamp: textOr(value['timestamp'], ''),
    appletSlug: textOr(value['appletSlug'], null),
    hidden: value['hidden'] === true,
    status: readStatus(value['status']),
    error: textOr(value['error'], null),
    toolCalls: readAll(value['toolCalls'], readCall),
    outputs: readAll(value['outputs'], readOutput),
    image: textOr(value['image'], null),
  };
}

export interface Page {
  messages: Required<ChatMessage>[];
  start: number;
  agent: string | null;
}

export function readPage(value: unknown): Page | null {
  if (!isObject(value) || !Array.isArray(value['messages'])) return null;
  return { messages: readAll(value['messages'], readMessage), start: countOr(value['start'], 0), agent: textOr(value['agent'], null) };
}

export interface OutputData {
  mime: string;
  data: string;
}

export function readOutputData(value: unknown): OutputData | null {
  if (!isObject(value) || typeof value['mime'] !== 'string' || typeof value['data'] !== 'string') return null;
  return { mime: value['mime'], data: value['data'] };
}

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});
