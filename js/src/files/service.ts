/** What an applet's page can do with the files of its host. Two ways do it: HTTP of the server, and the channel's messages. */

import type { FileEntry } from '../protocol.gen.js';

/** A blob goes to the applet by reference: the browser copies its bytes once, past the page (100 MB in half the time). */
export interface FileBytes {
  blob: Blob;
  version: string;
}

/** Who asks: the content of that revision, in that window. `consent` says that a person has just agreed. */
export interface Asker {
  windowId: string;
  revision: number;
  consent: boolean;
}

/** What is refused rejects with an error that has the wire's `code`. */
export interface FileService {
  read(by: Asker, path: string): Promise<FileBytes>;
  write(by: Asker, file: FileToWrite): Promise<string>;
  list(by: Asker, path: string): Promise<FileEntry[]>;
}

export interface FileToWrite {
  path: string;
  content: string | ArrayBuffer;
  /** The version that may be replaced. */
  ifMatch?: string;
}
