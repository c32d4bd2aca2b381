"""The shipped calculator, as people use it (mouse, keys, clipboard, reload) and as kernels do (commands, state)."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import pytest
from playwright.sync_api import Frame, FrameLocator, Locator, expect

from .notebook import Notebook

MAKE = """\
from importlib.resources import files
from jupyter_applets import Applet

folder = files("jupyter_applets") / "shipped" / "calculator"
html, js, css = ((folder / name).read_text("utf-8") for name in ("content.html", "script.js", "style.css"))
calculator = Applet(html=html, js=js, css=css, title="Calculator", window_id="calculator")
display(calculator)
"""


class Calculator:
    """One calculator in an output, with the names that a person would give its parts."""

    def __init__(self, notebook: Notebook, cell: int) -> None:
        self.notebook = notebook
        self.cell = cell
        self.applet: FrameLocator = notebook.applet(cell)
        self.display: Locator = self.applet.locator("output")
        self.expression: Locator = self.applet.locator(".expression")
        self.results: Locator = self.applet.locator(".results .result")

    @property
    def frame(self) -> Frame:
        return self.notebook.applet_frame(self.cell)

    def click(self, *names: str) -> None:
        for name in names:
            self.applet.get_by_role("button", name=name, exact=True).click()

    def type(self, *keys: str) -> None:
        """On the keyboard, to whatever has the focus."""
        for key in keys:
            self.notebook.page.keyboard.press(key)

    def expect(self, expression: str, display: str) -> None:
        expect(self.expression).to_have_text(expression)
        expect(self.display).to_have_text(display)


@pytest.fixture
def calculator(notebook: Notebook) -> Calculator:
    calculator = Calculator(notebook, notebook.run(MAKE))
    calculator.expect("", "0")
    return calculator


# ── by hand ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_sum_by_mouse(calculator: Calculator) -> None:
    calculator.click("1", "2", "Multiply", "Open parenthesis", "3", "Plus", "0", "Decimal point", "5")
    # A preview, with the parenthesis still open.
    calculator.expect("12 × (3 + 0.5", "42")
    calculator.click("Equals")
    calculator.expect("12 × (3 + 0.5) =", "42")
    # An operator goes on with the result, a digit starts anew.
    calculator.click("Minus", "2", "Equals")
    calculator.expect("42 - 2 =", "40")
    calculator.click("7")
    calculator.expect("7", "7")


def test_sum_by_keyboard_after_a_click_on_a_key(calculator: Calculator) -> None:
    calculator.click("9")
    calculator.type(*"*(2+3,5)", "Enter")
    calculator.expect("9 × (2 + 3.5) =", "49.5")
    calculator.type("Backspace", "Backspace")
    calculator.expect("9 × (2 + 3.", "45")
    calculator.type(*"25)-10%=")
    calculator.expect("9 × (2 + 3.25) - 10% =", "42.525")
    calculator.type("Escape")
    calculator.expect("", "0")
    calculator.type("Control+z")
    calculator.expect("9 × (2 + 3.25) - 10% =", "42.525")
    calculator.type("Control+z")
    calculator.expect("9 × (2 + 3.25) - 10%", "42.525")


def test_tab_reaches_every_key_with_a_visible_ring_and_enter_presses_it(calculator: Calculator) -> None:
    calculator.applet.locator(".calculator").focus()
    calculator.type("Tab", "Tab", "Tab", "Tab", "Tab")
    key = calculator.applet.get_by_role("button", name="Open parenthesis")
    expect(key).to_be_focused()
    expect(key).to_have_css("outline-style", "solid")
    calculator.type("Enter")
    calculator.expect("(", "0")
    # Once something is typed, Enter means equals.
    calculator.type(*"4+4", "Enter")
    calculator.expect("(4 + 4) =", "8")


@pytest.mark.parametrize(
    ("keys", "expression"),
    [
        ("+", "0+"),
        ("-5", "-5"),
        ("7+*", "7*"),
        ("7*-+", "7+"),
        ("7*-2", "7*-2"),
        ("0075", "75"),
        ("1.2.3", "1.23"),
        (".5", "0.5"),
        ("5)", "5"),
        ("(1+)2)", "(1+2)"),
        ("2(3)4", "2*(3)*4"),
        ("50%2", "50%*2"),
        ("(*", "("),
        ("1/3=*", "0.33333333333333333333*"),
        ("1-3=^2", "(-2)^2"),
    ],
)
def test_pad_writes_only_what_can_be_calculated(calculator: Calculator, keys: str, expression: str) -> None:
    assert calculator.frame.evaluate("keys => [...keys].map(press).at(-1).expression", keys) == expression


def test_results_are_listed_and_used_again(calculator: Calculator) -> None:
    expect(calculator.applet.get_by_text("Results will be listed here")).to_be_visible()
    calculator.click("2", "Plus", "3", "Equals", "8", "Divide", "2", "Equals")
    expect(calculator.results).to_have_text(["4", "5"])
    calculator.click("1", "0", "Minus")
    calculator.results.nth(1).click()
    calculator.expect("10 - 5", "5")
    calculator.click("Equals")
    calculator.results.nth(1).click()
    calculator.expect("4", "4")
    calculator.frame.evaluate("for (let i = 0; i < 30; i++) evaluate(`${i}+1`)")
    expect(calculator.results).to_have_count(20)
    expect(calculator.results.first).to_have_text("30")
    calculator.click("Clear history")
    expect(calculator.results).to_have_count(0)
    calculator.click("Undo")
    expect(calculator.results).to_have_count(20)


def test_error_is_shown_and_can_be_mended(calculator: Calculator) -> None:
    calculator.click("1", "Divide", "0", "Equals")
    calculator.expect("1 ÷ 0", "Cannot divide by zero.")
    expect(calculator.display).to_have_class(re.compile("error"))
    calculator.type(*".5", "Enter")
    calculator.expect("1 ÷ 0.5 =", "2")


def test_copy_and_paste(calculator: Calculator) -> None:
    page = calculator.notebook.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    calculator.click("6", "Multiply", "7", "Equals", "Copy result")
    expect(calculator.applet.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "42"
    calculator.type("Escape", "Control+v", "+", "1", "Enter", "Control+c")
    calculator.expect("42 + 1 =", "43")
    assert page.evaluate("navigator.clipboard.readText()") == "43"


@pytest.mark.parametrize("width", [220, 320, 600])
def test_thousands_of_digits_fit(calculator: Calculator, width: int) -> None:
    frame = calculator.frame
    calculator.notebook.cell(calculator.cell).locator(".jupyter-applet").evaluate(
        "(element, width) => { element.style.width = `${width}px`; }", width
    )
    frame.wait_for_function("width => Math.abs(innerWidth - width) < 3", arg=width)
    pad = "JSON.stringify(document.querySelector('.pad').getBoundingClientRect())"
    before = frame.evaluate(pad)
    frame.evaluate("evaluate('9^1000'); evaluate('7'.repeat(2000) + '-1'); press('C'); evaluate('8'.repeat(1000))")
    overflow = "[...document.querySelectorAll('html, .calculator, .screen, .expression, .display, .past, .results')]"
    overflow += ".filter((it) => it.scrollWidth > it.clientWidth + 1).map((it) => it.className)"
    assert frame.evaluate(overflow) == []
    # No key moves under the pointer.
    assert frame.evaluate(pad) == before


# ── the agent ────────────────────────────────────────────────────────────────────────────────────────────────────────

STUB = """
window.invokeAgent = (prompt, options) => new Promise((resolve, reject) => {
  Object.assign(window, { prompt, resolve, reject, ...options });
  options.signal.addEventListener('abort', () => reject(new Error('The call was cancelled.')));
});
true
"""
"""An agent whose every word the test says."""


def test_agent_is_asked_about_what_is_typed(calculator: Calculator) -> None:
    button, answer = calculator.applet.locator(".ask button"), calculator.applet.get_by_role("status", name="Answer")
    calculator.frame.evaluate(STUB)
    calculator.click("Ask the agent")
    expect(answer).to_have_text("Type something to ask about.")
    calculator.click("2", "Plus", "2", "Ask the agent")
    assert calculator.frame.evaluate("prompt") == "What is 2+2?"
    expect(answer).to_have_text("Asking…")
    expect(button).to_have_text("Stop")
    calculator.frame.evaluate("onStatus({ status: 'queued', message: 'Queued behind a running cell.' })")
    expect(answer).to_have_text("Queued behind a running cell.")
    calculator.frame.evaluate("onDelta('It is', 'It is')")
    expect(answer).to_have_text("It is")
    calculator.frame.evaluate("resolve({ text: 'It is 4. ' })")
    expect(answer).to_have_text("It is 4.")
    expect(button).to_have_text("Ask the agent")
    # What is typed meanwhile is the calculator's own.
    calculator.type("Enter")
    calculator.expect("2 + 2 =", "4")


def test_agent_is_asked_by_a_key_stopped_and_its_errors_are_shown(calculator: Calculator) -> None:
    answer = calculator.applet.get_by_role("status", name="Answer")
    calculator.frame.evaluate(STUB)
    calculator.click("7")
    calculator.type("?")
    expect(answer).to_have_text("Asking…")
    calculator.click("Stop")
    expect(answer).to_have_text("Stopped.")
    calculator.type("?")
    calculator.frame.evaluate("reject(new Error('There is no agent in this session.'))")
    expect(answer).to_have_text("There is no agent in this session.")
    expect(calculator.applet.locator(".ask")).to_have_class(re.compile("failed"))
    calculator.expect("7", "7")


# ── by a kernel ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_kernel_drives_it_and_reads_it(calculator: Calculator) -> None:
    notebook = calculator.notebook
    assert notebook.value("calculator.command('evaluate', expression='2 × (3 + 4)**2 =')") == {
        "expression": "2*(3+4)^2",
        "result": "98",
    }
    calculator.expect("2 × (3 + 4)^2 =", "98")
    pressed = "[calculator.command('press', key=key) for key in ['-', '9', '0', 'Enter']][-1]"
    assert notebook.value(pressed) == {"expression": "98-90", "display": "8"}
    assert notebook.value("[calculator.query(key) for key in ('display', 'expression', 'history')]") == [
        "8",
        "98-90",
        [{"expression": "98-90", "result": "8"}, {"expression": "2*(3+4)^2", "result": "98"}],
    ]
    assert notebook.value("calculator.command('clear')") == {"expression": "", "display": "0"}
    assert notebook.value("sorted(calculator.manifest.commands)") == ["clear", "evaluate", "press"]


def test_kernel_is_told_what_is_wrong(calculator: Calculator) -> None:
    notebook = calculator.notebook
    assert notebook.error("calculator.command('evaluate', expression='2*(3+')") == (
        "HandlerFailed",
        "The expression ends too early.",
    )
    calculator.expect("2 × (3 +", "The expression ends too early.")
    name, message = notebook.error("calculator.command('press', key='sin')")
    assert (name, message[:22]) == ("HandlerFailed", "There is no key “sin”.")
    assert "0 1 2 3 4 5 6 7 8 9 . + - * / ^ % ( ) = C Backspace Undo" in message


def test_state_is_told_at_every_change(calculator: Calculator) -> None:
    calculator.frame.evaluate(
        "window.told = []; Object.defineProperty(window, 'setAppletState', { value: (state) => told.push(state) })"
    )
    calculator.click("9", "Minus", "Equals", "Clear", "4", "Equals")
    assert [list(state.values()) for state in calculator.frame.evaluate("told")] == [
        ["9", "9", None],
        ["9", "9-", None],
        ["The expression ends too early.", "9-", None],
        ["0", "", None],
        ["4", "4", None],
        ["4", "4", "4"],
    ]


def test_reload_brings_display_and_history_back(calculator: Calculator) -> None:
    notebook, cell = calculator.notebook, calculator.cell
    notebook.run("calculator.command('evaluate', expression='1/3')")
    calculator.click("Multiply", "3", "Equals", "8", "Plus")
    # Read for a snapshot, which is then on its way before anything else this page does.
    calculator.frame.evaluate(
        "current = new Proxy(current, { get: (it, key) => ((window.isKept ||= key === 'results'), it[key]) })"
    )
    calculator.frame.wait_for_function("window.isKept")
    notebook.reload()
    calculator = Calculator(notebook, cell)
    calculator.expect("8 +", "8")
    expect(calculator.results).to_have_text(["1", "0.333333333333333"])
    calculator.click("2", "Equals")
    calculator.expect("8 + 2 =", "10")


# ── arithmetic ───────────────────────────────────────────────────────────────────────────────────────────────────────

CALCULATE = (
    "texts => texts.map((text) => { try { return format(calculate(normal(text))); } catch (e) { return e.message; } })"
)
"""The script is a classic one, so its functions can be called from its page."""

TABLE = {
    "0.1+0.2": "0.3",
    "0.1*3-0.3": "0",
    "1/3": "0.333333333333333",
    "1/3*3": "1",
    "2+3*4": "14",
    "8-3-2": "3",
    "8/4/2": "1",
    "2(3+4)": "14",
    "-2^2": "-4",
    "2^-1": "0.5",
    "2^3^2": "512",
    "--5": "5",
    "5*-3": "-15",
    "-.5": "-0.5",
    "5.": "5",
    "10%": "0.1",
    "200+10%": "220",
    "200-10%": "180",
    "200*10%": "20",
    "200+(10%)": "200.1",
    "200+10%*2": "200.2",
    "2^100": "1267650600228229401496703205376",
    "1e21+1": "1000000000000000000001",
    "12345678901234567890.5": "1.23456789012346e+19",
    "0.0000001": "1e-7",
    "2e3": "2000",
    "1.0005^10950": "238.324146249723",
    "2^0.5": "1.4142135623731",
    "(2^0.5)^2": "2",
    "2^0.5*2^0.5-2": "0",
    "1000^(1/3)": "10",
    "0^0": "1",
    "1/0": "Cannot divide by zero.",
    "0^-1": "Cannot divide by zero.",
    "(-8)^0.5": "A negative number has no such root.",
    "9^99999": "The result is too large.",
    "9^-99999": "The result is too close to zero.",
    "1e99999": "1e99999 has too many digits.",
    "": "There is nothing to calculate.",
    "2+": "The expression ends too early.",
    "(2": "A “)” is missing.",
    "2)": "There is a “)” too many.",
    "()": "Something is missing before “)”.",
    "2 3": "An operator is missing between two numbers.",
    "7%3": "% means percent: an operator must follow it.",
    "1,000": "Write decimals with a point, and no commas.",
    "alert(1)": "“alert” is not understood here.",
    "1..2": "“.2” is not understood here.",
    "(" * 300: "The expression is nested too deeply.",
    "9" * 6000: "The expression is longer than 5000 characters.",
}


def test_arithmetic(calculator: Calculator) -> None:
    assert dict(zip(TABLE, calculator.frame.evaluate(CALCULATE, list(TABLE)), strict=True)) == TABLE


def make_expression(draw: random.Random, depth: int) -> tuple[str, Fraction]:
    """An expression in full parentheses, and its value."""
    if depth == 0 or draw.random() < 0.2:
        text = f"{draw.randint(0, 999)}.{draw.randint(0, 99):02}" if draw.random() < 0.5 else str(draw.randint(1, 9999))
        return text, Fraction(text)
    (left, a), (right, b) = make_expression(draw, depth - 1), make_expression(draw, depth - 1)
    sign = draw.choice("+-*/" if b else "+-*")
    value = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else a}[sign]
    return f"({left}{sign}{right})", value


def test_any_expression_has_the_value_that_fractions_give(calculator: Calculator) -> None:
    draw = random.Random(0)
    made = dict(make_expression(draw, 4) for _ in range(500))
    for (text, value), result in zip(made.items(), calculator.frame.evaluate(CALCULATE, list(made)), strict=True):
        assert abs(Fraction(result) - value) <= abs(value) / 10**14, text
