// A calculator: exact arithmetic (numbers, expressions), what is on the screen, and the ways to it: pad, keyboard, agent.
// One file, because it is a classic script: the first two parts know nothing of the page.

// ── numbers: fractions of whole numbers of any size, so that 0.1 + 0.2 is 0.3 ────────────────────────────────────────

// Whole numbers are exact up to some 4,800 digits. A fraction whose both parts are large is rounded to 100 digits.
const MAX_BITS = 16_000;
const MAX_FRACTION_BITS = 1024;
const MAX_WHOLE_DIGITS = 1000;
const MAX_LENGTH = 5000;
const MAX_DEPTH = 250;

const sizeOf = (n) => n.toString(16).length * 4;
const magnitude = (n) => (n < 0n ? -n : n);

function divisor(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

/** The first `count` digits of n/d, rounded, with the power of ten they are to be multiplied by; n is not negative. */
function leading(n, d, count) {
  const at = (power) => (power < 0 ? [n * 10n ** BigInt(-power), d] : [n, d * 10n ** BigInt(power)]);
  let power = n.toString().length - d.toString().length - count;
  if (String(at(power)[0] / at(power)[1]).length > count) power += 1;
  const [above, below] = at(power);
  const rest = above % below;
  return { digits: above / below + (rest * 2n >= below ? 1n : 0n), power, isExact: rest === 0n };
}

/** `isExact` is false for what a root has made: its last digits mean nothing, and are not shown. */
function fraction(n, d = 1n, isExact = true) {
  if (d === 0n) throw new Error('Cannot divide by zero.');
  if (d < 0n) [n, d] = [-n, -d];
  if (Math.min(sizeOf(n), sizeOf(d)) > MAX_FRACTION_BITS) {
    const { digits, power, isExact: isWhole } = leading(magnitude(n), d, 100);
    const rounded = n < 0n ? -digits : digits;
    isExact &&= isWhole;
    [n, d] = power < 0 ? [rounded, 10n ** BigInt(-power)] : [rounded * 10n ** BigInt(power), 1n];
  }
  const common = divisor(magnitude(n), d);
  [n, d] = [n / common, d / common];
  if (sizeOf(n) > MAX_BITS) throw new Error('The result is too large.');
  if (sizeOf(d) > MAX_BITS) throw new Error('The result is too close to zero.');
  return { n, d, isExact };
}

const negative = (a) => ({ ...a, n: -a.n });
const product = (a, b) => fraction(a.n * b.n, a.d * b.d, a.isExact && b.isExact);
const quotient = (a, b) => fraction(a.n * b.d, a.d * b.n, a.isExact && b.isExact);

function sum(a, b) {
  const isExact = a.isExact && b.isExact;
  const n = a.n * b.d + b.n * a.d;
  // 2^0.5 * 2^0.5 - 2 is nothing but what rounding left.
  const isNoise = !isExact && magnitude(n) * 10n ** 14n < magnitude(a.n * b.d);
  return isNoise ? fraction(0n) : fraction(n, a.d * b.d, isExact);
}

function power(base, exponent) {
  if (base.n === 0n && exponent.n < 0n) throw new Error('Cannot divide by zero.');
  if (exponent.d === 1n) {
    const factor = exponent.n < 0n ? quotient(fraction(1n), base) : base;
    let result = fraction(1n);
    for (const bit of magnitude(exponent.n).toString(2)) {
      result = product(result, result);
      if (bit === '1') result = product(result, factor);
    }
    return result;
  }
  if (base.n < 0n) throw new Error('A negative number has no such root.');
  if (base.n === 0n) return base;
  const root = Number(format(base, 17)) ** Number(format(exponent, 17));
  if (root === Infinity) throw new Error('The result is too large.');
  if (root === 0) throw new Error('The result is too close to zero.');
  return { ...literal(String(root)), isExact: Number.isInteger(root) && root < 1e9 };
}

/** The number that a text such as 12.5 or 1e-9 stands for. */
function literal(text) {
  const [figures, exponent = '0'] = text.toLowerCase().split('e');
  const [whole, decimals = ''] = figures.split('.');
  const shift = Number(exponent) - decimals.length;
  if (Math.abs(shift) > MAX_LENGTH) throw new Error(`${text} has too many digits.`);
  const n = BigInt(whole + decimals);
  return shift < 0 ? fraction(n, 10n ** BigInt(-shift)) : fraction(n * 10n ** BigInt(shift));
}

/** In full where that is exact and of a sensible length, else with so many digits. */
function format(value, count = 15) {
  const { d, isExact } = value;
  const n = magnitude(value.n);
  const sign = value.n < 0n ? '-' : '';
  if (n === 0n) return '0';
  if (d === 1n && isExact && n.toString().length <= MAX_WHOLE_DIGITS) return `${sign}${n}`;
  const full = leading(n, d, 16);
  const { digits, power } = isExact && full.isExact ? full : leading(n, d, count);
  const text = digits.toString();
  const figures = text.replace(/0+$/, '');
  // How many digits stand before the point.
  const point = text.length + power;
  if (power > 0 || point < -5) {
    const tail = figures.length > 1 ? `.${figures.slice(1)}` : '';
    return `${sign}${figures[0]}${tail}e${point > 0 ? '+' : '-'}${Math.abs(point - 1)}`;
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${figures}`;
  const whole = figures.slice(0, point).padEnd(point, '0');
  return sign + whole + (figures.length > point ? `.${figures.slice(point)}` : '');
}

// ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** One spelling for what people and agents write: 2 × 3, 2**3, 2 − 3 =. */
function normal(text) {
  const ascii = text.replace(/\*\*/g, '^').replace(/[×·]/g, '*').replace(/÷/g, '/').replace(/[−–]/g, '-');
  return ascii.trim().replace(/\s*=$/, '').replace(/\s+/g, ' ').replace(/ ?([-+*/^%()]) ?/g, '$1');
}

/** The value of an expression: sums of products of signs of powers of numbers, percents and parentheses. */
function calculate(text) {
  if (text === '') throw new Error('There is nothing to calculate.');
  if (text.length > MAX_LENGTH) throw new Error(`The expression is longer than ${MAX_LENGTH} characters.`);
  let at = 0;
  let depth = 0;
  /** Whether what was just read is a bare percentage: 200 + 10% is 220, as on other calculators. */
  let isPercent = false;

  const take = (...signs) => (signs.includes(text[at]) ? text[at++] : null);

  function wrong() {
    if (at >= text.length) return new Error('The expression ends too early.');
    if (text[at] === ',') return new Error('Write decimals with a point, and no commas.');
    if (text[at] === ')' && /[-+*/^(]/.test(text[at - 1])) return new Error('Something is missing before “)”.');
    if (text[at] === ')') return new Error('There is a “)” too many.');
    if (text[at] === ' ') return new Error('An operator is missing between two numbers.');
    if (text[at - 1] === '%') return new Error('% means percent: an operator must follow it.');
    return new Error(`“${/[\w.]+|./su.exec(text.slice(at, at + 20))[0]}” is not understood here.`);
  }

  function readSum() {
    let left = readProduct();
    for (let sign; (sign = take('+', '-')); ) {
      const right = readProduct();
      const part = isPercent ? product(left, right) : right;
      left = sum(left, sign === '-' ? negative(part) : part);
    }
    return left;
  }

  function readProduct() {
    let left = readSigned();
    for (;;) {
      const isImplied = text[at] === '(' && text[at - 1] !== '%';
      const sign = isImplied ? '*' : take('*', '/');
      if (!sign) return left;
      left = (sign === '*' ? product : quotient)(left, readSigned());
      isPercent = false;
    }
  }

  function readSigned() {
    if (++depth > MAX_DEPTH) throw new Error('The expression is nested too deeply.');
    const sign = take('-', '+');
    const value = sign ? readSigned() : readPower();
    depth -= 1;
    return sign === '-' ? negative(value) : value;
  }

  function readPower() {
    const base = readPercent();
    if (!take('^')) return base;
    // Its own sign belongs to an exponent, and 2^3^2 is 2^(3^2).
    const value = power(base, readSigned());
    isPercent = false;
    return value;
  }

  function readPercent() {
    let value = readNumber();
    isPercent = false;
    while (take('%')) {
      value = quotient(value, fraction(100n));
      isPercent = true;
    }
    return value;
  }

  function readNumber() {
    if (take('(')) {
      const value = readSum();
      if (take(')')) return value;
      throw at < text.length ? wrong() : new Error('A “)” is missing.');
    }
    const number = /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/i.exec(text.slice(at))?.[0];
    if (!number) throw wrong();
    at += number.length;
    return literal(number);
  }

  const value = readSum();
  if (at < text.length) throw wrong();
  return value;
}

// ── what is on the screen ────────────────────────────────────────────────────────────────────────────────────────────

const MAX_RESULTS = 20;
const MAX_UNDO = 50;

/** `kind` says what `display` is: a 'preview' of what is being typed, a 'result', or an 'error'. `results`: newest first. */
let current = { expression: '', display: '0', kind: 'preview', results: [] };
let undoable = [];

function change(fields, isUndoable = false) {
  if (isUndoable) undoable = [...undoable, current].slice(-MAX_UNDO);
  current = { ...current, ...fields };
  show();
  const { expression, display, results } = current;
  globalThis.setAppletState?.({ display, expression, lastResult: results[0]?.result ?? null });
}

function evaluate(text) {
  const expression = normal(text);
  let result;
  try {
    result = format(calculate(expression));
  } catch (error) {
    change({ expression, display: error.message, kind: 'error' }, true);
    throw error;
  }
  const [last] = current.results;
  const isSame = last?.expression === expression && last.result === result;
  const results = isSame ? current.results : [{ expression, result }, ...current.results].slice(0, MAX_RESULTS);
  change({ expression, display: result, kind: 'result', results }, true);
  return { expression, result };
}

function clear() {
  if (current.expression || current.display !== '0') change({ expression: '', display: '0', kind: 'preview' }, true);
}

function undo() {
  const before = undoable.pop();
  if (before) change(before);
}

const openIn = (text) => text.split('(').length - text.split(')').length;
const balanced = (text) => text + ')'.repeat(Math.max(0, openIn(text)));

/** What is typed so far, without the operators that wait for more. What has no value yet leaves the display as it is. */
function edit(expression) {
  let { display } = current;
  if (current.kind !== 'preview') display = '0';
  try {
    display = expression ? format(calculate(balanced(expression.replace(/[-+*/^(]+$/, '')))) : '0';
  } catch {
    // As in 1/0, which may become 1/0.5.
  }
  change({ expression, display, kind: 'preview' });
}

/** A result to go on with: with digits to spare, so that 1/3 times 3 is 1, and so that (-2)^2 is 4. */
function operand(expression) {
  const text = format(calculate(expression), 20);
  return text.startsWith('-') ? `(${text})` : text;
}

/** Put one character of the pad at the end, unless it could not stand there. */
function insert(key) {
  const isOperator = '+-*/^%'.includes(key);
  let text = current.expression;
  if (current.kind === 'result') text = isOperator ? operand(text) : '';
  const number = /[\d.]*(?:e[+-]?\d*)?$/i.exec(text)[0];
  if (isOperator) {
    // An operator replaces the one before it; a minus may also be a sign.
    if (key !== '-' || !/(^|[*/^(])$/.test(text)) text = text.replace(/[-+*/^]+$/, '');
    if (text.endsWith('(') && key !== '-') return;
    if (text === '' && key !== '-') text = '0';
  } else if (key === ')') {
    if (openIn(text) <= 0 || /[-+*/^(]$/.test(text)) return;
  } else if (key === '.') {
    if (/[.e]/i.test(number)) return;
    if (/[)%]$/.test(text)) text += '*';
    if (!number) text += '0';
  } else if (/[)%]$/.test(text) || (key === '(' && number)) {
    text += '*';
  } else if (number === '0' && key !== '(') {
    text = text.slice(0, -1);
  }
  if (text.length < MAX_LENGTH) edit(text + key);
}

/** What each key of the pad does, by the name that `press` takes. */
const KEYS = Object.fromEntries([...'0123456789.+-*/^%()'].map((key) => [key, () => insert(key)]));
Object.assign(KEYS, {
  '=': () => current.kind !== 'result' && current.expression && evaluate(balanced(current.expression)),
  C: clear,
  Backspace: () => edit(current.expression.slice(0, -1)),
  Undo: undo,
});

/** Other names of the same keys, as keyboards and people have them. */
const ALIASES = { Enter: '=', Escape: 'C', Delete: 'C', c: 'C', ',': '.', '×': '*', '÷': '/', '−': '-', '⌫': 'Backspace' };

function press(name) {
  const key = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name;
  if (!Object.hasOwn(KEYS, key)) {
    throw new Error(`There is no key “${name}”. Keys: ${Object.keys(KEYS).join(' ')}. For a whole expression use evaluate.`);
  }
  KEYS[key]();
  return { expression: current.expression, display: current.display };
}

// ── showing ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const find = (selector) => document.querySelector(selector);
const root = find('.calculator');
let shownResults = null;

/** As people write it: 12 × (3 + 4). */
const pretty = (text) => text.replace(/(?<=[\d.)%])[-+*/]/g, ' $& ').replaceAll('*', '×').replaceAll('/', '÷');

function show() {
  const { expression, display, kind, results } = current;
  const line = find('.expression');
  line.textContent = pretty(expression) + (kind === 'result' ? ' =' : '');
  line.scrollTop = line.scrollHeight;
  const output = find('.display');
  // Written only when it is another text, which is what a screen reader is to say.
  if (output.textContent !== display) output.textContent = display;
  output.className = `display ${expression ? kind : ''}`;
  output.style.setProperty('--length', display.length);
  if (results !== shownResults) showResults(results);
}

function showResults(results) {
  shownResults = results;
  find('.none').hidden = results.length > 0;
  find('.forget').hidden = results.length === 0;
  find('.results').replaceChildren(...results.map(resultItem));
}

function resultItem({ expression, result }) {
  const button = Object.assign(document.createElement('button'), { type: 'button', title: 'Use this result' });
  for (const [name, text] of [['from', `${pretty(expression)} =`], ['result', result]]) {
    button.append(Object.assign(document.createElement('span'), { className: name, textContent: text }));
  }
  button.addEventListener('click', () => reuse(expression));
  const item = document.createElement('li');
  item.append(button);
  return item;
}

/** The result becomes the next operand, or, where none is awaited, the start of a new expression. */
function reuse(expression) {
  const isAwaited = current.kind !== 'result' && /[-+*/^(]$/.test(current.expression);
  edit((isAwaited ? current.expression : '') + operand(expression));
}

// ── mouse, keyboard, clipboard ───────────────────────────────────────────────────────────────────────────────────────

/** For people: what went wrong is on the display already. */
function tryTo(action) {
  try {
    action();
  } catch (error) {
    if (current.kind !== 'error') throw error;
  }
}

// A click leaves the focus with the calculator, so that Enter is "=" afterwards and not the clicked key once more.
root.addEventListener('mousedown', (event) => {
  if (!event.target.closest('button')) return;
  event.preventDefault();
  root.focus({ preventScroll: true });
});
for (const button of document.querySelectorAll('.pad button')) {
  button.addEventListener('click', () => tryTo(() => press(button.dataset.key)));
}
find('.forget').addEventListener('click', () => {
  change({ results: [] }, true);
  root.focus({ preventScroll: true });
});

// Enter and Space press a button that was reached by Tab, until something is typed there.
let hasTyped = false;
root.addEventListener('focusin', () => (hasTyped = false));
document.addEventListener('keydown', (event) => {
  const { key, target, altKey, shiftKey } = event;
  const isControl = event.ctrlKey || event.metaKey;
  const isUndo = isControl && !altKey && !shiftKey && key.toLowerCase() === 'z';
  // AltGr, by which some keyboards write ^ and parentheses, looks like Ctrl and Alt.
  const isPlain = !(isControl || altKey) || event.getModifierState('AltGraph');
  const name = isUndo ? 'Undo' : key;
  if (!(isPlain || isUndo) || !(Object.hasOwn(KEYS, name) || Object.hasOwn(ALIASES, name))) return;
  if (key === 'Enter' && target.closest?.('button') && !hasTyped) return;
  event.preventDefault();
  hasTyped = true;
  tryTo(() => press(name));
});

// The clipboard's own events need no permission.
document.addEventListener('copy', (event) => {
  if (!getSelection().isCollapsed) return;
  event.clipboardData.setData('text/plain', current.display);
  event.preventDefault();
});
document.addEventListener('paste', (event) => {
  event.preventDefault();
  const text = normal(event.clipboardData.getData('text/plain'));
  if (text) edit(((current.kind === 'result' ? '' : current.expression) + text).slice(0, MAX_LENGTH));
});
find('.copy').addEventListener('click', ({ currentTarget: button }) => {
  getSelection().removeAllRanges();
  if (!document.execCommand('copy')) return getSelection().selectAllChildren(find('.display'));
  button.classList.add('done');
  button.setAttribute('aria-label', 'Copied');
  setTimeout(() => {
    button.classList.remove('done');
    button.setAttribute('aria-label', 'Copy result');
  }, 1500);
});

// ── asking the agent ─────────────────────────────────────────────────────────────────────────────────────────────────

/** Stops what the agent is at; null while it is asked nothing. */
let asking = null;

/** `kind` says what the line is: 'asking' while the agent is at it, 'answered', 'idle' for what nobody answered, or 'failed'. */
function showAnswer(kind, text, isGrowing = false) {
  const row = find('.ask');
  row.className = `ask ${kind}`;
  row.querySelector('button').textContent = kind === 'asking' ? 'Stop' : 'Ask the agent';
  const line = find('.answer');
  // A screen reader says what is waited for, and the answer when it is whole.
  line.ariaBusy = String(isGrowing);
  line.textContent = text;
  line.scrollTop = isGrowing ? line.scrollHeight : 0;
}

async function ask() {
  if (asking) return asking.abort();
  const { expression } = current;
  if (!expression) return showAnswer('idle', 'Type something to ask about.');
  if (!globalThis.invokeAgent) return showAnswer('failed', 'There is no agent here.');
  const { signal } = (asking = new AbortController());
  showAnswer('asking', 'Asking…');
  try {
    const { text } = await invokeAgent(`What is ${expression}?`, {
      signal,
      onStatus: ({ status, message }) => showAnswer('asking', status === 'queued' ? message || 'Waiting…' : 'Asking…'),
      onDelta: (delta, textSoFar) => showAnswer('asking', textSoFar, true),
    });
    showAnswer('answered', text.trim() || 'The agent said nothing.');
  } catch (error) {
    showAnswer(...(signal.aborted ? ['idle', 'Stopped.'] : ['failed', error.message]));
  } finally {
    asking = null;
  }
}

find('.ask button').addEventListener('click', ask);
document.addEventListener('keydown', (event) => {
  if (event.key !== '?') return;
  event.preventDefault();
  ask();
});

// ── agents and kernels ───────────────────────────────────────────────────────────────────────────────────────────────

const text = (description) => ({ type: 'string', description });
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties), additionalProperties: false });
const RESULT = object({ expression: text('As it was understood'), result: text('A decimal number; text, because it may have many digits') });
const SHOWN = object({ expression: text('What is typed'), display: text('What the display shows') });

applet.app.register({
  appId: 'calculator',
  name: 'Calculator',
  state: {
    display: {
      description: 'The large line: the result, a preview while something is typed, or an error text',
      schema: { type: 'string' },
      snapshot: true,
      handler: () => current.display,
    },
    expression: {
      description: 'What is being calculated, such as 12*(3+4)',
      schema: { type: 'string' },
      snapshot: true,
      handler: () => current.expression,
    },
    history: {
      description: `The last ${MAX_RESULTS} results, newest first`,
      schema: { type: 'array', items: RESULT },
      snapshot: true,
      handler: () => current.results,
    },
  },
  commands: {
    press: {
      description: `Press one key of the pad: ${Object.keys(KEYS).join(' ')}`,
      params: object({ key: text('The name of the key') }),
      returns: SHOWN,
      handler: ({ key }) => press(key),
    },
    evaluate: {
      description: 'Calculate an expression with + - * / ^ % ( ), decimals with a point. 200+10% is 220. Fails with what is wrong in it',
      params: object({ expression: text('Such as (1.5+2)*4^2') }),
      returns: RESULT,
      handler: ({ expression }) => evaluate(expression),
    },
    clear: {
      description: 'Empty the expression and the display. The history stays',
      params: object({}),
      returns: SHOWN,
      handler: () => press('C'),
    },
  },
  hydrate({ expression = '', display = '0', history: results = [] }) {
    const isResult = results[0]?.expression === expression && results[0].result === display;
    const isNumber = /^-?\d[\d.]*(e[+-]\d+)?$/.test(display);
    change({ expression, display, kind: isResult ? 'result' : isNumber ? 'preview' : 'error', results });
  },
});
show();
