import type { TokenUse } from './token-use.ts';
import { widerMember } from './wider-member.ts';

const proxy = '0d4a1f5e-54b0-4b2c-9c0a-0d6f6f0f7a11';

test.each<[TokenUse | null, TokenUse | null]>([
  [null, { max_uses: 1 }],
  [null, null],
  [{ proxies: [proxy] }, { proxies: [proxy], methods: ['GET'] }],
  [{ methods: ['GET', 'POST'] }, { methods: ['GET'] }],
  [{ destinations: ['*.example.com'] }, { destinations: ['*.a.example.com', 'b.example.com'] }],
  [{ max_uses: 2 }, { max_uses: 1 }],
  [{ until: '2030-01-02T00:00:00.000Z' }, { until: '2030-01-01T00:00:00.000Z' }],
])('from %j to %j is not wider', (from, to) => {
  expect(widerMember(from, to)).toBeUndefined();
});

test.each<[TokenUse, TokenUse | null]>([
  [{ max_uses: 1 }, null],
  [{ proxies: [proxy] }, { methods: ['GET'] }],
  [{ methods: ['GET'] }, { methods: ['GET', 'POST'] }],
  [{ places: ['body'] }, { places: ['query'] }],
  [{ destinations: ['*.example.com'] }, { destinations: ['example.com'] }],
  [{ destinations: ['a.example.com'] }, { destinations: ['*.example.com'] }],
  [{ destinations: ['*.a.example.com'] }, { destinations: ['*.example.com'] }],
  [{ max_uses: 1 }, { max_uses: 2 }],
  [{ max_uses: 1 }, { methods: ['GET'] }],
  [{ until: '2030-01-01T00:00:00.000Z' }, { until: '2030-01-01T00:00:00.001Z' }],
  [{ until: '2030-01-01T00:00:00.000Z' }, { max_uses: 1 }],
])('from %j to %j is wider in that member', (from, to) => {
  expect(widerMember(from, to)).toBe(Object.keys(from)[0]);
});
