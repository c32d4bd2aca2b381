/** Owns what of a content makes a document, and what its SDK is started with. */

import type { SdkConfig } from './frame/messages.js';
import type { Content, Json } from './protocol.gen.js';
import type { StreamedHtml } from './stream.js';

/** A text that is another when another document is needed. What streams grows in the one there is. */
export const documentOf = ({ html = '', js = '', css = '', permissions = {}, modules = {}, files = {}, streaming = false }: Content): string =>
  JSON.stringify([streaming || html, js, css, permissions, modules, files]);

/** The content as it is put into the document: what streams goes there piece by piece, from its first character on. */
export const bodyOf = (content: Content, stream: StreamedHtml | null): Content => (stream ? { ...content, html: '', js: '' } : content);

interface Known {
  theme: SdkConfig['theme'];
  state: Record<string, Json> | null;
  lexer: string;
  stream: StreamedHtml | null;
  fills: boolean;
}

export function configOf(content: Content, { theme, state, lexer, stream, fills }: Known): Omit<SdkConfig, 'key'> {
  const { js = '', css = '', slug, modules, files } = bodyOf(content, stream);
  return {
    js,
    css,
    theme,
    ...(state && { state }),
    ...(slug && { slug }),
    ...(modules && { modules }),
    ...(files && { files }),
    ...(lexer && { lexer }),
    ...(fills && { fills }),
    ...(stream && { streaming: true }),
  };
}
