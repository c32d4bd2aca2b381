/** The module lexer, a bundle of its own: few applets need it. The build that needs no WebAssembly, so that it parses at once. */

export { parse } from 'es-module-lexer/minimal/js';
