/** The anywidget entry: one route per model, one view per place where the model is shown. */

// First: what is deflated sees only 32 kB back, and the SDK in between would part what is alike.
import { sdkText } from './frame/sdk-text.js';
import { type BundleModel, loadText } from './bundles.js';
import { Route, type RouteModel } from './channel/route.js';
import type { Content } from './protocol.gen.js';
import { View } from './view.js';

interface Traits extends Required<Pick<Content, 'html' | 'js' | 'css' | 'title' | 'permissions' | 'modules' | 'height' | 'slug' | 'files'>> {
  window_id: string;
  _streaming: boolean;
  _revision: number;
  _session: string;
  _route: 'server' | 'kernel';
  _version: string;
}

/** What anywidget hands over of a widget's model. */
interface Model {
  get<K extends keyof Traits>(name: K): Traits[K];
  on(event: string, callback: (content: unknown) => void): void;
  off(event: string, callback: (content: unknown) => void): void;
  send(content: unknown): void;
}

const TRAITS = ['html', 'js', 'css', 'title', 'permissions', 'modules', 'height', 'slug', 'files'] as const;

/** A new document comes with a new revision, which is set last; the others change the one that runs. */
const CHANGES = ['change:_revision', 'change:permissions', 'change:title', 'change:height'];

const contentOf = (model: Model): Content => ({
  ...Object.fromEntries(TRAITS.map((name) => [name, model.get(name)])),
  streaming: model.get('_streaming'),
});

function show(model: Model, route: Route, sdk: string): View {
  return new View({
    viewId: crypto.getRandomValues(new Uint32Array(3)).join('-'),
    windowId: model.get('window_id'),
    revision: model.get('_revision'),
    content: contentOf(model),
    channel: () => route.channel(),
    sdk,
    fallBack: () => route.fallBack(),
    loadText: (name) => loadText(model as BundleModel, name),
  });
}

// A function, because anywidget calls it once per model: what it holds belongs to that model.
export default async () => {
  const sdk = await sdkText();
  let route: Route | null = null;
  return {
    /** Listens and connects, and does not wait: a model that takes 2 s is given up. */
    initialize({ model }: { model: Model }): () => void {
      route = new Route(model as RouteModel);
      route.channel();
      return () => route?.dispose();
    },

    render({ model, el }: { model: Model; el: HTMLElement }): () => void {
      const view = show(model, (route ??= new Route(model as RouteModel)), sdk);
      const update = (): void => view.showContent(model.get('_revision'), contentOf(model));
      for (const event of CHANGES) model.on(event, update);
      el.append(view.element);
      return () => {
        for (const event of CHANGES) model.off(event, update);
        view.dispose();
      };
    },
  };
};
