import { describe, expect, it } from 'vitest';
import { contentPolicy, listedNetwork, policyOrigin } from '../../src/frame/policy.js';

const directives = (origins: string[]): Record<string, string> =>
  Object.fromEntries(contentPolicy(origins).split('; ').map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]));

describe('an origin', () => {
  it.each([
    ['https://example.com', 'https://example.com'],
    ['HTTPS://Example.COM/', 'https://example.com'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['wss://a-b.c_d.org', 'wss://a-b.c_d.org'],
    ['https://*.example.com', 'https://*.example.com'],
  ])('%s is listed as %s', (entry, origin) => {
    expect(policyOrigin(entry)).toBe(origin);
  });

  it.each([
    '*', 'https:', 'https://', 'https://*', "'unsafe-inline'", 'example.com', 'https://a.com/path', 'https://a.com?q', 'https://a.com; script-src *',
    'https://a.com https://b.com', 'https://a.com"', "https://a.com'", 'https://a.com\n', 'https://a.com,', 'https://user@a.com', 'http://[::1]',
    'ftp://a.com', 'data:', 'javascript:alert(1)', 'https://a.*.com', 'https://a.com:*', 'https://ä.com', '', 5, null, {},
  ])('%j is refused', (entry) => {
    expect(policyOrigin(entry)).toBeNull();
  });
});

describe('permissions.network', () => {
  it('keeps what is right once, and names what is not', () => {
    expect(listedNetwork({ network: ['https://a.com', 'https://A.com/', 'nonsense', 5] })).toEqual({
      origins: ['https://a.com'],
      refused: ['nonsense', '5'],
    });
  });
  it.each([[{}], [{ network: null }], [{ network: [] }]])('in %j opens nothing', (permissions) => {
    expect(listedNetwork(permissions)).toEqual({ origins: [], refused: [] });
  });
  it('that is no list is one entry', () => {
    expect(listedNetwork({ network: 'https://a.com' }).origins).toEqual(['https://a.com']);
  });
});

describe('the policy', () => {
  it('without origins has nothing external in it', () => {
    expect(contentPolicy([])).not.toMatch(/https?:|wss?:|\*/);
    expect(directives([])).toMatchObject({ 'default-src': "'none'", 'frame-src': "'none'", 'form-action': "'none'", 'connect-src': 'data: blob:' });
  });

  it('opens an origin for loads, and its sockets for connections', () => {
    const policy = directives(['https://a.com']);
    for (const name of ['script-src', 'style-src', 'img-src', 'font-src', 'media-src']) expect(policy[name]).toMatch(/ https:\/\/a\.com$/);
    expect(policy['connect-src']).toBe('data: blob: https://a.com wss://a.com');
    expect(policy['frame-src']).toBe("'none'");
    expect(policy['worker-src']).toBe('data: blob:');
  });

  it('opens a socket origin for sockets only', () => {
    const policy = directives(['wss://a.com']);
    expect(policy['connect-src']).toBe('data: blob: wss://a.com');
    expect(policy['img-src']).toBe('data: blob:');
  });
});
