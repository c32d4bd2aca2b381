/** The chat's bundle, which a page loads once: what a Chat widget's loader hands its views to. */

import { Route, type RouteModel } from '../channel/route.js';
import { mount } from './chat.js';
import { Session, type SessionChannel } from './session.js';

/** What anywidget hands over of a chat's model. */
export interface ChatModel {
  get(name: string): unknown;
  on(event: string, callback: (content: unknown) => void): void;
  off(event: string, callback: (content: unknown) => void): void;
  send(content: unknown): void;
}

export function render({ model, el }: { model: ChatModel; el: HTMLElement }): () => void {
  const route = new Route(model as RouteModel);
  const session = new Session({
    name: String(model.get('_session')),
    channel: () => route.channel() as SessionChannel,
    fallBack: () => route.fallBack() as SessionChannel,
  });
  const chat = mount(el, session);
  const resize = (): void => chat.setHeight(model.get('height') as number | string);
  resize();
  model.on('change:height', resize);
  return () => {
    model.off('change:height', resize);
    chat.dispose();
    session.dispose();
    route.dispose();
  };
}
