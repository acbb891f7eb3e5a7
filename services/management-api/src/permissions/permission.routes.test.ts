import { permissions } from '@sluice/access';
import { useStack } from '@sluice/testing';
import { shareTestManagement } from '../testing/test-management.ts';

const api = useStack(() => shareTestManagement());
const list = (query = '') => api.current.send('GET', `/permissions${query}`);

test('answers a plain array of all thirty, each with type, description and application_types', async () => {
  const { status, body } = await list();
  expect(status).toBe(200);
  expect(body).toEqual(permissions);
  expect(body).toHaveLength(30);
  expect(body).toContainEqual({
    type: 'token:create',
    description: 'Create tokens',
    application_types: ['public', 'private'],
  });
});

test.each([
  ['private', 6],
  ['public', 2],
  ['management', 24],
])('application_type=%s leaves the %i that it can hold', async (type, count) => {
  const { status, body } = await list(`?application_type=${type}`);
  expect({ status, count: body.length }).toEqual({ status: 200, count });
  for (const { application_types } of body) expect(application_types).toContain(type);
});

test('an empty application_type is none; unknown query parameters are ignored', async () => {
  expect((await list('?application_type=')).body).toHaveLength(30);
  expect((await list('?page=0&foo=%00')).body).toHaveLength(30);
});

test.each(['?application_type=x', '?application_type=Private', '?application_type=public&application_type=private'])(
  '%s is 400',
  async (query) => {
    const { status, body } = await list(query);
    expect({ status, paths: Object.keys(body.errors) }).toEqual({ status: 400, paths: ['application_type'] });
  },
);

test('any valid key may ask, whatever it holds', async () => {
  const { key } = await api.current.application({ type: 'public', permissions: ['token:create'] });
  expect((await api.current.send('GET', '/permissions', { key })).status).toBe(200);
});
