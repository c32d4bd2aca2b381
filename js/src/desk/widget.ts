/** The desk's bundle, which a page loads once: what a Desk widget's loader hands its views to. */

import { type BundleModel, loadText } from '../bundles.js';
import { Route, type RouteModel } from '../channel/route.js';
import { randomId } from '../channel/shared.js';
import { sdkText } from '../frame/sdk-text.js';
import { View } from '../view.js';
import { Desk } from './desk.js';

/** What anywidget hands over of a desk's model. */
export interface DeskModel {
  get(name: string): unknown;
  on(event: string, callback: (content: unknown) => void): void;
  off(event: string, callback: (content: unknown) => void): void;
  send(content: unknown): void;
}

export async function render({ model, el }: { model: DeskModel; el: HTMLElement }): Promise<() => void> {
  const route = new Route(model as RouteModel);
  const sdk = await sdkText();
  const channel = (): ReturnType<Route['channel']> => route.channel();
  const fallBack = (): ReturnType<Route['fallBack']> => route.fallBack();
  const desk = new Desk({
    channel,
    fallBack,
    makeView: (windowId) =>
      new View({
        viewId: randomId(),
        windowId,
        revision: 0,
        content: {},
        channel,
        sdk,
        fallBack,
        fills: true,
        loadText: (name) => loadText(model as BundleModel, name),
      }),
  });
  const resize = (): void => desk.setHeight(model.get('height') as number | string);
  resize();
  model.on('change:height', resize);
  el.append(desk.element);
  return () => {
    model.off('change:height', resize);
    desk.dispose();
    route.dispose();
  };
}
