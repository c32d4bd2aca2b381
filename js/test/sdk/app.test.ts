// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { App } from '../../src/sdk/app.js';
import type { Port } from '../../src/sdk/port.js';
import type { AppConfig } from '../../src/sdk/registration.js';
import { Snapshots } from '../../src/sdk/snapshot.js';

let sent: any[];
let app: App;
let answering: () => void;

beforeEach(() => {
  vi.restoreAllMocks();
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
  sent = [];
  answering = () => {};
  app = new App({ send: (message: unknown) => sent.push(message) } as unknown as Port, new Snapshots(() => {}), () => answering());
});

async function ask(request: object): Promise<any> {
  sent = [];
  app.handle({ requestId: 'r', ...request } as never);
  await new Promise((resolve) => setTimeout(resolve));
  expect(sent).toHaveLength(1);
  expect(sent[0].requestId).toBe('r');
  return sent[0];
}
const query = (stateKey: string) => ask({ type: 'yaar:app-query-request', stateKey });
const command = (name: string, fields: object = {}) => ask({ type: 'yaar:app-command-request', command: name, ...fields });
const returning = (value: unknown): AppConfig => ({ state: { x: { handler: () => value } } });

describe('register', () => {
  it('says ready with the manifest, which has no handlers in it', () => {
    app.register({
      appId: 'sheet',
      name: 'Sheet',
      state: { cells: { description: 'All', schema: { type: 'object' }, snapshot: true, handler: () => 1 } },
      commands: { set: { params: { type: 'object' }, replay: 'last', handler: () => 1 } },
      replay: 'never',
      hydrate() {},
    });
    const manifest = {
      appId: 'sheet',
      name: 'Sheet',
      state: { cells: { description: 'All', schema: { type: 'object' }, snapshot: true } },
      commands: { set: { description: '', params: { type: 'object' }, replay: 'last' } },
      replay: 'never',
    };
    expect(sent).toEqual([{ type: 'yaar:app-ready', appId: 'sheet', manifest, hydrates: true }]);
  });

  it('again replaces what was registered, with a warning', async () => {
    app.register(returning(1));
    app.register(returning(2));
    expect(console.warn).toHaveBeenCalledOnce();
    expect(await query('x')).toMatchObject({ data: 2 });
  });

  it.each([
    [undefined, /give it an object/],
    [5, /give it an object/],
    [{ state: 5 }, /state must be an object/],
    [{ state: { x: {} } }, /state\.x needs a handler function/],
    [{ commands: { x: null } }, /commands\.x needs a handler function/],
    [{ appId: 5 }, /appId and name must be strings/],
    [{ replay: 'sometimes' }, /replay must be/],
    [{ commands: { x: { handler() {}, replay: 1 } } }, /replay must be/],
    [{ hydrate: 5 }, /hydrate must be a function/],
    [{ state: { x: { handler() {}, schema: { n: 1n } } } }, /cannot be sent as JSON/],
  ])('refuses %o with a sentence', (config, sentence) => {
    expect(() => app.register(config as never)).toThrow(TypeError);
    expect(() => app.register(config as never)).toThrow(sentence);
    expect(sent).toEqual([]);
  });
});

describe('before register', () => {
  it('every request is answered with what is missing', async () => {
    const failed = { error: 'The applet has not called applet.app.register yet.', code: 'NOT_READY' };
    expect(await ask({ type: 'yaar:app-manifest-request' })).toEqual({ type: 'yaar:app-manifest-response', requestId: 'r', manifest: null, ...failed });
    expect(await query('x')).toEqual({ type: 'yaar:app-query-response', requestId: 'r', data: null, ...failed });
    expect(await command('x')).toEqual({ type: 'yaar:app-command-response', requestId: 'r', result: null, ...failed });
  });
});

describe('a value', () => {
  it.each([
    ['a plain one', 5, 5],
    ['undefined', undefined, null],
    ['a promise', Promise.resolve([1]), [1]],
    ['something thenable', { then: (resolve: (value: number) => void) => resolve(7) }, 7],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an object with toJSON', { toJSON: () => 'short' }, 'short'],
    ['an object with a function in it', { a: 1, f: () => 1 }, { a: 1 }],
    ['NaN', Number.NaN, null],
  ])('that is %s arrives as JSON holds it', async (_, value, data) => {
    app.register(returning(value));
    expect(await query('x')).toEqual({ type: 'yaar:app-query-response', requestId: 'r', data, error: null });
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  it.each([
    ['a cycle', cycle],
    ['a BigInt', 10n],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['an object whose toJSON throws', { toJSON: () => { throw new Error('x'); } }],
  ])('that is %s is answered with a sentence', async (_, value) => {
    app.register(returning(value));
    expect(await query('x')).toMatchObject({ data: null, code: 'RESULT_NOT_JSON', error: expect.stringMatching(/^The result cannot be sent as JSON: /) });
  });
});

describe('a name', () => {
  beforeEach(() => {
    app.register({ state: { a: { handler: () => 1 }, b: { handler: () => 1 } }, commands: { go: { handler: () => 1 } } });
  });

  it.each(['nope', 'constructor', '__proto__', 'toString', ''])('%j that is unknown is answered with the known ones', async (name) => {
    expect(await query(name)).toMatchObject({ error: `Unknown state key: ${name}. Known: a, b.`, code: 'UNKNOWN_STATE_KEY' });
    expect(await command(name)).toMatchObject({ error: `Unknown command: ${name}. Known: go.`, code: 'UNKNOWN_COMMAND' });
  });

  it('of the other kind is named as such', async () => {
    expect(await command('a')).toMatchObject({ error: "Unknown command: a. 'a' is a state key: read it with app_query." });
    expect(await query('go')).toMatchObject({ error: "Unknown state key: go. 'go' is a command: run it with app_command." });
  });
});

describe('a command', () => {
  it('gets its params, or an empty object, and what it needs to know', async () => {
    const handler = vi.fn();
    app.register({ commands: { go: { handler } } });
    await command('go', { params: { a: 1 }, replayed: true });
    await command('go');
    expect(handler.mock.calls).toEqual([
      [{ a: 1 }, { replayed: true, command: 'go', requestId: 'r' }],
      [{}, { replayed: false, command: 'go', requestId: 'r' }],
    ]);
  });

  it('is answered after all that its handler sent', () => {
    answering = () => sent.push({ type: 'before the answer' });
    app.register({ commands: { go: { handler: () => sent.push({ type: 'by the handler' }) } } });
    sent = [];
    app.handle({ type: 'yaar:app-command-request', requestId: 'r', command: 'go' });
    expect(sent.map(({ type }) => type)).toEqual(['by the handler', 'before the answer', 'yaar:app-command-response']);
  });

  it.each([
    ['throws', () => { throw new Error('no'); }, 'no'],
    ['rejects', () => Promise.reject(new TypeError('later')), 'later'],
    ['throws a text', () => { throw 'text'; }, 'text'],
    ['throws an error without words', () => { throw new RangeError(); }, 'RangeError'],
    ['throws nothing', () => { throw undefined; }, 'The handler threw nothing.'],
    ['throws what has no text', () => { throw Object.create(null); }, 'The handler threw something that has no text.'],
    ['throws what fails to become text', () => { throw { toString() { throw new Error('x'); } }; }, 'The handler threw something that has no text.'],
    ['throws an error whose message is no text', () => { throw Object.assign(new Error(), { message: 5 }); }, '5'],
    ['returns what cannot be looked at', () => ({ get then() { throw new Error('no'); } }), 'no'],
  ])('that %s is answered with its message, and the stack is in the log', async (_, handler, error) => {
    app.register({ commands: { go: { handler } } });
    expect(await command('go')).toEqual({ type: 'yaar:app-command-response', requestId: 'r', result: null, error, code: 'HANDLER_FAILED' });
    expect(console.error).toHaveBeenCalledOnce();
  });
});

it('what cannot be looked at or logged is answered all the same', async () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  vi.mocked(console.error).mockImplementation(() => { throw new Error('not even here'); });
  app.register({ commands: { go: { handler: () => { throw revoked.proxy; } } } });
  expect(await command('go')).toMatchObject({ error: 'The handler threw something that has no text.', code: 'HANDLER_FAILED' });
});

describe('hydrate', () => {
  const hydrate = (state: object) => ask({ type: 'yaar:app-hydrate-request', state });

  it('is awaited, and has no value', async () => {
    const seen: unknown[] = [];
    app.register({ hydrate: async (state) => { await null; seen.push(state); return 5; } });
    expect(await hydrate({ a: 1 })).toEqual({ type: 'yaar:app-hydrate-response', requestId: 'r', error: null });
    expect(seen).toEqual([{ a: 1 }]);
  });

  it('that throws, or is not there, is answered', async () => {
    app.register({ hydrate: () => { throw new Error('no'); } });
    expect(await hydrate({})).toMatchObject({ error: 'no', code: 'HANDLER_FAILED' });
    app.register({});
    expect(await hydrate({})).toMatchObject({ code: 'HANDLER_FAILED' });
  });
});

describe('the document', () => {
  const dom = (selector: string, format?: string) => ask({ type: 'yaar:app-dom-request', selector, format });
  beforeEach(() => {
    document.body.innerHTML = `
      <p id="a" class="x y" data-n="1" onclick="no()">one <b>two</b></p><p>three</p>
      <input name="who" value="me"><input type="checkbox" checked><input type="password" value="secret"><textarea>text</textarea>`;
  });

  it('is read by a selector, before register too', async () => {
    expect((await dom('p')).data).toEqual([
      { tag: 'p', id: 'a', class: 'x y', text: 'one two', attributes: { 'data-n': '1' } },
      { tag: 'p', text: 'three' },
    ]);
    expect((await dom('[name=who]')).data).toEqual([{ tag: 'input', text: '', value: 'me', attributes: { name: 'who' } }]);
    expect((await dom('[type=checkbox]')).data).toMatchObject([{ checked: true }]);
    expect((await dom('p, input[name], textarea', 'text')).data).toBe('one two\nthree\nme\ntext');
  });

  it('gives no passwords, and nothing for what is not there', async () => {
    expect((await dom('[type=password]')).data[0]).not.toHaveProperty('value');
    expect([(await dom('.none')).data, (await dom('.none', 'text')).data]).toEqual([[], '']);
  });

  it('says which selector cannot be read, and does not blame the applet', async () => {
    expect(await dom('p[')).toMatchObject({ error: "'p[' is no CSS selector that can be read.", code: 'HANDLER_FAILED' });
    expect(console.error).not.toHaveBeenCalled();
  });

  it('is told in bounds', async () => {
    document.body.innerHTML = `<p>${'x'.repeat(5000)}</p>`.repeat(300);
    const { data } = await dom('p');
    expect([data.length, data[0].text.length]).toEqual([200, 2000]);
  });
});

describe('sendInteraction', () => {
  it('sends text as it is and objects as JSON', () => {
    app.sendInteraction('clicked');
    app.sendInteraction({ action: 'clicked' });
    expect(sent.map(({ content }) => content)).toEqual(['clicked', '{"action":"clicked"}']);
    expect(() => app.sendInteraction(undefined)).toThrow(TypeError);
  });
});
