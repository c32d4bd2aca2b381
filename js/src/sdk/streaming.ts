/** Owns HTML that comes in pieces: it is shown as it comes, and its scripts do not run. */

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
    (document.getElementById('appletView') ?? document.body).append(root);
    return parser;
  }
}
