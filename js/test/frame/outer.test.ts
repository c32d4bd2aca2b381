import { expect, it } from 'vitest';
import { outerDocument } from '../../src/frame/outer.js';

it('the outer frame has the policy and looks no names up ahead, before anything of the applet', () => {
  const [head = ''] = outerDocument('default-src "none"', 'k', '<p>').split('<iframe');
  expect(head).toContain('<meta http-equiv="Content-Security-Policy" content="default-src &quot;none&quot;">');
  expect(head).toContain('<meta http-equiv="x-dns-prefetch-control" content="off">');
});

it('the applet’s frame is allowed what its page allows, and no more', () => {
  expect(outerDocument('', 'k', '')).toContain(' allow=""');
  expect(outerDocument('', 'k', '', 'clipboard-read; clipboard-write')).toContain(' allow="clipboard-read; clipboard-write"');
});
