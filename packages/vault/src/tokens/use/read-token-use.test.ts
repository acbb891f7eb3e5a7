import { readTokenUse } from './read-token-use.ts';
import type { TokenUse } from './token-use.ts';

const now = new Date('2026-01-01T00:00:00Z');

test('what is stored has one spelling', () => {
  const proxies = ['0D4A1F5E-54B0-4B2C-9C0A-0D6F6F0F7A11', '0d4a1f5e-54b0-4b2c-9c0a-0d6f6f0f7a11'];
  const destinations = ['API.Example.com.', 'api.example.com', '*.Example.COM', '::1', '[::1]', '127.1', 'münchen.de'];
  const wire = { proxies, destinations, methods: ['get', 'GET'], places: ['header:X-Card'], until: '2026-01-02' };
  expect(readTokenUse(wire, now)).toEqual({
    use: {
      proxies: ['0d4a1f5e-54b0-4b2c-9c0a-0d6f6f0f7a11'],
      destinations: ['api.example.com', '*.example.com', '[::1]', '127.0.0.1', 'xn--mnchen-3ya.de'],
      methods: ['GET'],
      places: ['header:x-card'],
      until: '2026-01-02T00:00:00.000Z',
    },
  });
});

test.each([
  ...['', '*', '*.', '.', 'https://example.com', 'example.com:443', 'example.com/a', 'a@example.com', 'a b'],
  ...['*.*.example.com', 'a.*.com', '*example.com', '[::1', '[::1]:443', '1.2.3.4.5', '*.1.2.3.4'],
])('%j is no destination', (destination) => {
  expect(readTokenUse({ destinations: ['example.com', destination] }, now)).toEqual({
    faults: { 'use.destinations[1]': [expect.stringContaining('must be a host without a port')] },
  });
});

test.each<[TokenUse, string]>([
  [{ until: 'tomorrow' }, 'must be an ISO 8601 date'],
  [{ until: '2026-02-30' }, 'must be an ISO 8601 date'],
  [{ until: '2025-12-31' }, 'must be in the future'],
  [{ until: '2026-01-01T00:00:00Z' }, 'must be in the future'],
])('%j: %s', (wire, fault) => {
  expect(readTokenUse(wire, now)).toEqual({ faults: { 'use.until': [fault] } });
});
