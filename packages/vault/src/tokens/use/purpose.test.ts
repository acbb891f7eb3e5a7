import { type Purpose, type PurposeCall, refusedMember } from './purpose.ts';
import type { TokenUse } from './token-use.ts';

const now = new Date('2026-01-01T00:00:00Z');
const proxyId = '0d4a1f5e-54b0-4b2c-9c0a-0d6f6f0f7a11';

const calling = (call: Partial<PurposeCall> = {}): Purpose => ({
  proxyId,
  call: { host: 'api.example.com', method: 'POST', placesOf: () => ['body'], isSeenByCode: () => false, ...call },
});
const byCode: Purpose = { proxyId, call: undefined };
const byReactor: Purpose = { proxyId: undefined, call: undefined };

test.each<[TokenUse, Purpose]>([
  [{ proxies: [proxyId] }, calling()],
  [{ proxies: [proxyId] }, byCode],
  [{ destinations: ['api.example.com'] }, calling()],
  [{ destinations: ['api.example.com'] }, calling({ host: 'api.example.com.' })],
  [{ destinations: ['*.example.com'] }, calling({ host: 'a.b.example.com' })],
  [{ destinations: ['[::1]'] }, calling({ host: '[::1]' })],
  [{ methods: ['POST'] }, calling({ method: 'post' })],
  [{ places: ['body', 'header:x-card'] }, calling({ placesOf: () => ['body', 'header:x-card'] })],
  [{ places: ['body'] }, calling({ placesOf: () => undefined })],
  [{ until: '2026-01-01T00:00:01.000Z', max_uses: 1 }, byReactor],
])('%j allows it (%#)', (use, purpose) => {
  expect(refusedMember('t', use, purpose, now)).toBeUndefined();
});

test.each<[TokenUse, Purpose]>([
  [{ proxies: ['11111111-54b0-4b2c-9c0a-0d6f6f0f7a11'] }, calling()],
  [{ proxies: [proxyId] }, byReactor],
  [{ destinations: ['example.com'] }, calling()],
  [{ destinations: ['*.api.example.com'] }, calling()],
  [{ destinations: ['*.example.com'] }, calling({ host: 'badexample.com' })],
  [{ destinations: ['*.example.com'] }, calling({ host: 'example.com' })],
  [{ destinations: ['api.example.com'] }, calling({ isSeenByCode: () => true })],
  [{ destinations: ['api.example.com'] }, byCode],
  [{ methods: ['GET'] }, calling()],
  [{ methods: ['POST'] }, byReactor],
  [{ places: ['header:x-card'] }, calling({ placesOf: () => ['body', 'header:x-card'] })],
  [{ places: ['body'] }, byCode],
  [{ places: ['body'] }, calling({ placesOf: () => [] })],
  [{ until: '2026-01-01T00:00:00.000Z' }, calling()],
  [{ until: 'never' }, calling()],
])('%j refuses it, and names the member (%#)', (use, purpose) => {
  expect(refusedMember('t', use, purpose, now)).toBe(Object.keys(use)[0]);
});
