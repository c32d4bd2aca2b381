/**
 * Owns when the buttons of a question work: once it has stood in one place, in sight and with the same words, for half a
 * second. An applet can have its person click a spot again and again, and bring the question there between two clicks.
 */

/** In milliseconds, and how many in a row have to see the same. */
const LOOK = 50;
const LOOKS = 10;

/** Until `question` is taken away. Its words are its first child. */
export function arm(question: HTMLElement): void {
  const buttons = [...question.querySelectorAll('button')];
  let seen = '';
  let looks = 0;
  /** The button that lost the focus because it stopped working. */
  let focused: HTMLButtonElement | undefined;

  /** What a person sees; empty when that is not all of the buttons. */
  const sight = (): string => {
    const places = buttons.map((button) => {
      const { x, y, width, height } = button.getBoundingClientRect();
      // Of what is scrolled away, or below something else, another element is there, or none.
      const top = (button.getRootNode() as Document).elementFromPoint?.(x + width / 2, y + height / 2);
      return top === button && [x, y, width, height];
    });
    return document.hidden || places.includes(false) ? '' : JSON.stringify([places, question.firstElementChild?.textContent]);
  };
  const watch = (): void => {
    const now = sight();
    looks = now && now === seen ? looks + 1 : 0;
    seen = now;
    const isArmed = looks >= LOOKS;
    if (!isArmed) focused = buttons.find((button) => button === document.activeElement) ?? focused;
    for (const button of buttons) button.disabled = !isArmed;
    if (isArmed && document.activeElement === document.body) focused?.focus({ preventScroll: true });
    if (isArmed) focused = undefined;
    if (question.parentNode) setTimeout(watch, LOOK);
  };
  const check = (event: Event): void => {
    // It has moved since it was last looked at.
    if (buttons.includes(event.target as HTMLButtonElement) && sight() !== seen) event.stopPropagation();
  };
  question.addEventListener('click', check, true);
  watch();
}
