import { randomUUID } from 'node:crypto';
import type { Database } from '@sluice/database';

interface TestMember {
  tenantId: string;
  role: 'OWNER' | 'ADMIN' | 'DEVELOPER' | 'AUDITOR';
  /** Default: a new person. */
  userId?: string;
  email?: string;
}

/** @returns the ids of the person and of the membership. */
export async function insertTestMember(db: Database, { tenantId, role, userId = randomUUID(), email }: TestMember) {
  await db
    .insertInto('users')
    .values({ id: userId, email: email ?? null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const { id } = await db
    .insertInto('members')
    .values({ tenant_id: tenantId, user_id: userId, role })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, userId };
}

type TestSignIn = { tenantId: string; secretHash: Buffer; expiresInMs?: number } & (
  | { userId: string }
  | { applicationId: string; keyId: string }
);

/** @returns its id. */
export async function insertTestSignIn(db: Database, signIn: TestSignIn): Promise<string> {
  const { tenantId, secretHash, expiresInMs = 3600_000 } = signIn;
  const who =
    'userId' in signIn ? { user_id: signIn.userId } : { application_id: signIn.applicationId, key_id: signIn.keyId };
  const expires_at = new Date(Date.now() + expiresInMs).toISOString();
  const { id } = await db
    .insertInto('sign_ins')
    .values({ tenant_id: tenantId, secret_hash: secretHash, expires_at, ...who })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
