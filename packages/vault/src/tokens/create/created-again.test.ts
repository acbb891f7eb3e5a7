import { randomBytes, randomUUID } from 'node:crypto';
import { openTestCoherence, openTestDatabase, useStack } from '@sluice/testing';
import {
  type Actor,
  type Answering,
  assembleVault,
  createToken,
  createTokens,
  deleteToken,
  draftToken,
  localKeyWrapper,
  theOnly,
  tokenize,
  type Vault,
} from '../../index.ts';

const processes = useStack(async (stack) => {
  const database = await openTestDatabase(stack);
  const keyWrapper = localKeyWrapper(randomBytes(32).toString('base64'));
  const open = async (): Promise<Vault> => {
    const coherence = await openTestCoherence(database, stack);
    return assembleVault({ ...coherence, db: database.db, keyWrapper, disclosures: { record: async () => {} } });
  };
  return { db: database.db, ender: await open(), creator: await open(), reader: await open() };
});

async function createActor(): Promise<Actor> {
  const tenantId = randomUUID();
  await processes.current.db
    .insertInto('tenants')
    .values({ id: tenantId, owner_id: randomUUID(), name: 'T' })
    .execute();
  const permissions = ['token:create', 'token:read', 'token:update', 'token:delete'];
  const rules = [{ priority: 1, container: '/', transform: 'reveal' as const, permissions }];
  return { id: randomUUID(), tenantId, traceId: 'trace', permissions: [], rules };
}

const creations: [string, (vault: Vault, actor: Actor, input: object) => Promise<unknown>][] = [
  ['created', createToken],
  ['created among others', (vault, actor, input) => tokenize(vault, actor, { type: 'token', ...input })],
  [
    'created where equal ones are looked for',
    (vault, actor, input) => createToken(vault, actor, { ...input, deduplicate_token: true }),
  ],
  [
    'created with a kept answer',
    async (vault, actor, input) =>
      createTokens(await draftToken(vault, actor, input), { answerTo: theOnly, settle: async () => {} }),
  ],
];

test.each(creations)(
  'a token that is deleted, which nobody has confirmed yet, and then %s is served by no process as it was',
  async (_, create) => {
    const { ender, creator, reader } = processes.current;
    const actor = await createActor();
    const input = (version: string) => ({ id: 'cust-1', data: version, metadata: { version } });
    await createToken(creator, actor, input('old'));
    const versions = async () => {
      const found = await reader.tokens.find(actor.tenantId, ['cust-1']);
      return found.map((token) => 'metadata' in token && token.metadata.version);
    };
    expect(await versions()).toEqual(['old']);
    // As where Redis is away: committed, and on its way to the processes.
    const isRecorded = Promise.withResolvers<void>();
    const unconfirmed: Vault['changes'] = {
      ...ender.changes,
      barrier: () => {
        isRecorded.resolve();
        return new Promise(() => {});
      },
    };
    void deleteToken({ ...ender, changes: unconfirmed }, actor, 'cust-1');
    await isRecorded.promise;
    expect(await versions()).toEqual(['old']);

    await create(creator, actor, input('new'));
    expect(await versions()).toEqual(['new']);
  },
);

test('an answer that is kept names the change that its repetition has to confirm', async () => {
  const { ender, creator } = processes.current;
  const actor = await createActor();
  await createToken(creator, actor, { id: 'cust-1', data: 'old' });
  const { promise, resolve } = Promise.withResolvers<string>();
  const barrier: Vault['changes']['barrier'] = ({ id }) => {
    resolve(id);
    return new Promise(() => {});
  };
  void deleteToken({ ...ender, changes: { ...ender.changes, barrier } }, actor, 'cust-1');
  const id = await promise;
  const creation = await draftToken(creator, actor, { id: 'cust-1', data: 'new' });
  const kept: unknown[] = [];
  const settle: Answering<unknown>['settle'] = async (_tx, _answer, former) => void kept.push(former);
  await createTokens(creation, { answerTo: theOnly, settle });
  expect(kept).toMatchObject([{ id }]);
});
