/** Owns HTML that comes in pieces: it is shown as it comes, and its scripts do not run. */

/** Takes the handlers out of the HTML, which are scripts too. */
function disarm(node: Node): void {
  if (!(node instanceof Element)) return;
  for (const { name } of [...node.attributes]) if (name.startsWith('on')) node.removeAttribute(name);
  [...node.children].forEach(disarm);
}

/** The parser of a document that nobody sees goes on writing into an element after that has moved here. */
export class StreamedHtml {
  #parser: Document | null = null;

  write(html: string): void {
    this.#parser ??= this.#begin();
    this.#parser.write(html);
  }

  #begin(): Document {
    const parser = document.implementation.createHTMLDocument();
    parser.write('<streaming-html>');
    const root = parser.querySelector('streaming-html') as HTMLElement;
    root.style.display = 'contents';
    new MutationObserver((records) => records.forEach(({ addedNodes }) => addedNodes.forEach(disarm))).observe(root, { subtree: true, childList: true });
    (document.getElementById('appletView') ?? document.body).append(root);
    return parser;
  }
}
