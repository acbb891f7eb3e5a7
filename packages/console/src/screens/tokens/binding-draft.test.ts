import type { TokenUse } from '@sluice/sdk';
import { type BindingDraft, draftOf, toTokenUse } from './binding-draft.ts';

const until = '2036-01-02T03:04:05.678Z';
const whole: TokenUse = {
  proxies: ['0d4a1f5e-54b0-4b2c-9c0a-0d6f6f0f7a11'],
  destinations: ['api.example.com', '*.example.org'],
  methods: ['POST', 'PUT'],
  places: ['body', 'header:x-card'],
  max_uses: 5,
  until,
};

test.each<TokenUse>([{}, whole, { methods: ['GET'] }, { until }, { max_uses: 1 }])('%j is unchanged', (use) => {
  expect(toTokenUse(draftOf(use))).toEqual(use);
});

const read = (changes: Partial<BindingDraft>) => toTokenUse({ ...draftOf({}), ...changes });

test.each<[Partial<BindingDraft>, TokenUse]>([
  [{ destinations: ' a.example\n\nb.example, c.example ' }, { destinations: ['a.example', 'b.example', 'c.example'] }],
  [{ methods: 'POST PUT,get' }, { methods: ['POST', 'PUT', 'get'] }],
  [{ places: 'body,header:x-card' }, { places: ['body', 'header:x-card'] }],
  [{ maxUses: '0' }, { max_uses: 0 }],
  [{ proxies: [] }, { proxies: [] }],
  [{ destinations: ' ', methods: '', places: ',', maxUses: '' }, {}],
])('%j is sent as %j', (changes, use) => {
  expect(read(changes)).toEqual(use);
});

test('a moment that is taken away is gone', () => {
  expect(toTokenUse({ ...draftOf({ until }), until: undefined })).toEqual({});
});
