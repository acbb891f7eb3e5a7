import { operationsByCookie as ofManagement } from '@sluice/management-api';
import { operationsByCookie as ofTokens, operations as tokenOperations } from '@sluice/token-vault';

/** What the console's host answers, by the records of its operations: those that could show the value of a token. */
type Answering = Pick<(typeof tokenOperations)[number], 'id' | 'response'> & { permission?: string };

const showsData = ({ permission, response }: Answering) =>
  permission?.startsWith('token:') || /"title":"(Token|Tokens|Detokenized)"/.test(JSON.stringify(response));

const shown = (operations: readonly Answering[]) => operations.filter(showsData).map(({ id }) => id);

test('nothing by cookie takes a permission on tokens, or answers a token with its data', () => {
  const all: readonly Answering[] = [...ofManagement, ...ofTokens];
  expect(all.length).toBeGreaterThan(50);
  expect(shown(all)).toEqual([]);
});

test('control: every operation on tokens by key is found, by its permission and where it shows one by its answer', () => {
  expect(shown(tokenOperations)).toEqual(tokenOperations.map(({ id }) => id));
  const withoutPermission = tokenOperations.map(({ id, response }) => ({ id, response }));
  expect(shown(withoutPermission)).toEqual(expect.arrayContaining(['getToken', 'listTokens', 'searchTokens']));
});
