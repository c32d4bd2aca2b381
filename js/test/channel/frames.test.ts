import { describe, expect, it } from 'vitest';
import { decodeText, pack, unpack } from '../../src/channel/frames.js';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const frame = (header: string, length = header.length): ArrayBuffer => {
  const buffer = new ArrayBuffer(4 + header.length);
  new DataView(buffer).setUint32(0, length, true);
  new Uint8Array(buffer, 4).set(new TextEncoder().encode(header));
  return buffer;
};

describe('text frames', () => {
  it('hold one message or an array of them', () => {
    expect(decodeText('{"type":"a"}')).toEqual([{ type: 'a' }]);
    expect(decodeText('[{"type":"a"},{"type":"b"}]')).toEqual([{ type: 'a' }, { type: 'b' }]);
  });
});

describe('binary frames', () => {
  it('come back as they were packed, with every buffer at a multiple of 8', () => {
    const packed = pack([{ type: 'ä' }], [bytes(1, 2, 3), bytes(), bytes(4, 5, 6, 7, 8, 9, 10, 11, 12)]);
    const { messages, buffers } = unpack(packed.buffer as ArrayBuffer);
    expect(messages).toEqual([{ type: 'ä' }]);
    expect(buffers.map((buffer) => [...buffer])).toEqual([[1, 2, 3], [], [4, 5, 6, 7, 8, 9, 10, 11, 12]]);
    expect(buffers.every((buffer) => buffer.byteOffset % 8 === 0)).toBe(true);
  });

  it.each([
    ['shorter than a length', new ArrayBuffer(3)],
    ['with a header longer than the frame', frame('{}', 100)],
    ['with a header that is no JSON', frame('{')],
    ['with a header that is null', frame('null')],
    ['without messages', frame('{"buffers":[]}')],
    ['with buffers longer than the frame', frame('{"messages":[],"buffers":[99]}')],
    ['with a negative length', frame('{"messages":[],"buffers":[-1]}')],
    ['with a length that is no number', frame('{"messages":[],"buffers":["1"]}')],
  ])('%s are refused', (_, broken) => {
    expect(() => unpack(broken)).toThrow();
  });
});
