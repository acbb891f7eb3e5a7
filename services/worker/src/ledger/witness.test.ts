import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  originOf,
  readVerifierLine,
  readWitnessFile,
  signCheckpoint,
  toWitnessEntry,
  verifierLine,
  verifyCheckpoint,
} from '@sluice/ledger';
import { listen } from '@sluice/service-runtime';
import { openTestDatabase, slow, useStack } from '@sluice/testing';
import { sql } from 'kysely';
import { sequenceDue } from './sequence.ts';
import { showsCheckpoints } from './show-checkpoints.ts';
import { fileWitness, urlWitness, type Witness } from './witness.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const ledgerOrigin = 'sluice.example';
const database = useStack((stack) => openTestDatabase(stack));

const verifiersOf = (tenantId: string) => [
  readVerifierLine(verifierLine({ name: originOf(ledgerOrigin, tenantId), publicKey })),
];

async function grow(tenantId: string, rows: number): Promise<void> {
  const { db } = database.current;
  await sql`
    insert into audit_log (tenant_id, operation, entity_type, entity_id)
    select ${tenantId}, 'use', 'proxy', 'p' from generate_series(1, ${rows}::int)
  `.execute(db);
  await sequenceDue({ db, privateKey, ledgerOrigin });
}

beforeEach(() => sql`delete from ledgers`.execute(database.current.db));

async function startWitness(stack: AsyncDisposableStack, status: (note: string) => number) {
  const taken: string[] = [];
  const server = createServer(async (request, response) => {
    const note = await text(request);
    const code = status(note);
    if (code < 300) taken.push(note);
    response.writeHead(code, { Location: '/elsewhere' }).end('an answer that nobody reads');
  });
  const port = await listen(server, { host: '127.0.0.1', port: 0, stack });
  const sizesOf = (tenantId: string) =>
    taken
      .filter((note) => note.startsWith(originOf(ledgerOrigin, tenantId)))
      .map((note) => verifyCheckpoint(note, verifiersOf(tenantId)).size);
  return { witness: urlWitness(`http://127.0.0.1:${port}/checkpoints`), sizesOf };
}

test('a file has each newest checkpoint once, in the order of the tree, and the verifier reads it', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-witness-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'witness');
  const round = showsCheckpoints(database.current.db, fileWitness(path));
  const [tenantId, other] = [randomUUID(), randomUUID()];
  await grow(tenantId, 3);
  await round();
  await round();
  await grow(other, 1);
  await grow(tenantId, 2);
  await grow(tenantId, 2);
  await round();
  const read = async (of: string) => {
    const { checkpoints, cutOff } = await readWitnessFile((await readFile(path, 'utf8')).split('\n'), verifiersOf(of));
    return [checkpoints.map(({ size }) => size), cutOff];
  };
  expect(await read(tenantId)).toEqual([[3, 7], 0]);
  expect(await read(other)).toEqual([[1], 0]);
});

slow('1.3 s')('a note of which a stopped writer left a part costs the file no other', async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-witness-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'witness');
  const tenantId = randomUUID();
  const noteOf = (size: number) =>
    signCheckpoint({ origin: originOf(ledgerOrigin, tenantId), size, root: Buffer.alloc(32, size) }, privateKey);
  const torn = Buffer.from(toWitnessEntry(noteOf(4)));
  const witness = fileWitness(path);
  const read = async () => {
    const lines = (await readFile(path, 'utf8')).split('\n');
    const { checkpoints, cutOff } = await readWitnessFile(lines, verifiersOf(tenantId));
    return [checkpoints.map(({ size }) => size), cutOff];
  };
  const wholeFrom = torn.length - 2; // only line feeds are missing
  for (let end = 1; end <= torn.length; end += 1) {
    await rm(path, { force: true });
    await witness.take(noteOf(3));
    await appendFile(path, torn.subarray(0, end));
    await witness.take(noteOf(5));
    await witness.take(noteOf(6));
    expect([end, await read()]).toEqual([end, end < wholeFrom ? [[3, 5, 6], 1] : [[3, 4, 5, 6], 0]]);
    await writeFile(path, torn.subarray(0, end)); // as the first note of the file
    await witness.take(noteOf(5));
    expect([end, await read()]).toEqual([end, end < wholeFrom ? [[5], 1] : [[4, 5], 0]]);
  }
  expect(await readFile(path, 'utf8')).toBe(toWitnessEntry(noteOf(4)) + toWitnessEntry(noteOf(5)));
});

test('a URL that refuses one Tenant’s gets all others, and that one when it takes it', async () => {
  await using stack = new AsyncDisposableStack();
  const tenants = Array.from({ length: 8 }, () => randomUUID()).sort();
  const [refused = ''] = tenants;
  let isRefused = true;
  const { witness, sizesOf } = await startWitness(stack, (note) => (isRefused && note.includes(refused) ? 400 : 204));
  const round = showsCheckpoints(database.current.db, witness);
  for (const tenantId of tenants) await grow(tenantId, 2);
  await expect(round()).rejects.toThrow('did not take 1 checkpoints');
  expect(tenants.map(sizesOf)).toEqual([[], ...Array(7).fill([2])]);
  await grow(refused, 1);
  isRefused = false;
  await round();
  expect(tenants.map(sizesOf)).toEqual([[3], ...Array(7).fill([2])]);
});

test.each([302, 404, 503])('an answer of %d is no acceptance, and after a few the round ends', async (status) => {
  await using stack = new AsyncDisposableStack();
  let asked = 0;
  let isAway = true;
  const { witness, sizesOf } = await startWitness(stack, () => {
    asked += 1;
    return isAway ? status : 200;
  });
  const round = showsCheckpoints(database.current.db, witness);
  const tenants = Array.from({ length: 12 }, () => randomUUID());
  for (const tenantId of tenants) await grow(tenantId, 1);
  for (let rounds = 1; rounds <= 3; rounds += 1) {
    await expect(round()).rejects.toThrow('The witness did not take');
    expect(asked).toBe(5 * rounds);
  }
  isAway = false;
  await round();
  expect(tenants.map(sizesOf)).toEqual(tenants.map(() => [1]));
});

test('a worker that is killed before it noted what the witness took shows it again', async () => {
  const { db } = database.current;
  const taken: string[] = [];
  const tenantId = randomUUID();
  await grow(tenantId, 4);
  const killed: Witness = {
    take: async (note) => {
      taken.push(note);
      throw new Error('killed here');
    },
  };
  await expect(showsCheckpoints(db, killed)()).rejects.toThrow();
  const next = showsCheckpoints(db, { take: async (note) => void taken.push(note) });
  await next();
  await next();
  expect(taken.map((note) => verifyCheckpoint(note, verifiersOf(tenantId)).size)).toEqual([4, 4]);
});
