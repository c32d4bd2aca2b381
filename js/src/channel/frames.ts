/**
 * How messages are put on a wire; the twin of protocol/frames.py.
 * A text frame is one JSON message or an array of them. A binary frame is a u32 (little endian) with the header's length,
 * the header `{"messages": […], "buffers": [length, …]}`, and the buffers, each at a multiple of 8.
 */

const ALIGNMENT = 8;
const aligned = (at: number): number => at + ((ALIGNMENT - (at % ALIGNMENT)) % ALIGNMENT);

export interface Frame {
  messages: unknown[];
  buffers: Uint8Array[];
}

export function decodeText(frame: string): unknown[] {
  const value: unknown = JSON.parse(frame);
  return Array.isArray(value) ? value : [value];
}

export function pack(messages: readonly unknown[], buffers: readonly Uint8Array[]): Uint8Array {
  const header = new TextEncoder().encode(JSON.stringify({ messages, buffers: buffers.map((buffer) => buffer.length) }));
  let size = 4 + header.length;
  const offsets = buffers.map((buffer) => {
    const offset = aligned(size);
    size = offset + buffer.length;
    return offset;
  });
  const frame = new Uint8Array(size);
  new DataView(frame.buffer).setUint32(0, header.length, true);
  frame.set(header, 4);
  buffers.forEach((buffer, i) => frame.set(buffer, offsets[i]));
  return frame;
}

/** The messages, and views of the buffers (nothing is copied). Throws a RangeError or a SyntaxError on a broken frame. */
export function unpack(frame: ArrayBuffer): Frame {
  const start = 4 + new DataView(frame).getUint32(0, true);
  const header: unknown = JSON.parse(new TextDecoder().decode(new Uint8Array(frame, 4, start - 4)));
  const { messages, buffers } = (header ?? {}) as Partial<Record<keyof Frame, unknown>>;
  if (!Array.isArray(messages) || !Array.isArray(buffers)) throw new SyntaxError('A binary frame has no messages or no buffers.');
  let at = start;
  const views = buffers.map((length: unknown) => {
    if (typeof length !== 'number' || !Number.isInteger(length) || length < 0) throw new RangeError('A buffer has no length.');
    const view = new Uint8Array(frame, aligned(at), length);
    at = aligned(at) + length;
    return view;
  });
  return { messages, buffers: views };
}
