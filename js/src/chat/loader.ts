/** The Chat widget's module. A comm sends it once per widget, so it only loads the chat, which a page has once. */

import { type BundleModel, loadModule } from '../bundles.js';
import { make } from '../dom.js';
import type * as bundle from './widget.js';

type Render = typeof bundle.render;

export default {
  async render({ model, el }: Parameters<Render>[0]): Promise<() => void> {
    try {
      const { render } = (await loadModule(model as BundleModel, 'chat.js')) as { render: Render };
      return render({ model, el });
    } catch (error) {
      el.append(make('div', { role: 'alert', textContent: `The chat could not be loaded. ${error}` }));
      return () => {};
    }
  },
};
