/** Chooses a widget's channel: the page's one socket to the server, or, where there is none, the widget's own comm. */

import { HttpFiles } from '../files/http.js';
import { Channel } from './channel.js';
import { CommPipe, type CommModel } from './comm.js';
import { socketUrl } from './server.js';
import { randomId, shared } from './shared.js';
import { SocketPipe } from './socket.js';

export interface RouteModel extends CommModel {
  get(name: '_session' | '_route' | '_version'): string;
}

/** One widget's way to its host. Owns the comm channel, if it comes to that; the socket's is shared. */
export class Route {
  #comm: Channel | null = null;
  #disposed = false;

  constructor(private readonly model: RouteModel) {}

  /** Open from now on, so that nothing waits for a connection when a view comes. */
  channel(): Channel {
    return this.#comm ?? this.#server() ?? this.fallBack();
  }

  /** The server cannot be reached: the kernel has to do. */
  fallBack(): Channel {
    if (this.#comm) return this.#comm;
    // An id of its own: to the kernel, each comm is another peer.
    const id = `${shared().pageId}-${randomId().slice(0, 8)}`;
    const pipe = new CommPipe(this.model, id);
    const channel = new Channel({ ...this.#peer(), id }, pipe, () => {
      if (this.#comm === channel) this.#comm = null;
    });
    this.#comm = this.#disposed ? null : channel;
    return channel;
  }

  dispose(): void {
    this.#disposed = true;
    this.#comm?.close();
  }

  #server(): Channel | null {
    if (this.model.get('_route') !== 'server') return null;
    const { session } = this.#peer();
    const url = socketUrl(session);
    if (url === null) return null;
    const { channels, pageId } = shared();
    const open = channels.get(session);
    if (open) return open;
    const ended = (): void => {
      if (channels.get(session) === channel) channels.delete(session);
    };
    const channel = new Channel({ ...this.#peer(), id: pageId }, new SocketPipe(url), ended, new HttpFiles(session));
    channels.set(session, channel);
    return channel;
  }

  #peer(): { session: string; version: string } {
    return { session: this.model.get('_session'), version: this.model.get('_version') };
  }
}
