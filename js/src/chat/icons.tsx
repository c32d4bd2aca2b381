/** The chat's few drawings. */

import type { ComponentChildren } from 'preact';

const Icon = ({ children }: { children: ComponentChildren }) => (
  <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">
    {children}
  </svg>
);

export const SendIcon = () => (
  <Icon>
    <path d="M8 13V3M3.5 7.5 8 3l4.5 4.5" />
  </Icon>
);

export const StopIcon = () => (
  <Icon>
    <rect x="4" y="4" width="8" height="8" rx="1.5" fill="currentColor" stroke="none" />
  </Icon>
);

export const AttachIcon = () => (
  <Icon>
    <rect x="2" y="2.75" width="12" height="10.5" rx="2" />
    <circle cx="5.6" cy="6.2" r="1.1" />
    <path d="m2.5 12 3.7-3.4 2.4 2.1L11 8.4l2.8 2.6" />
  </Icon>
);
