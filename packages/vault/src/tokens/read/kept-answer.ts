import { decide } from '@sluice/access';
import { isObject, type Json, type JsonObject } from '../../json.ts';
import type { Vault } from '../../vault.ts';
import { findPlaces, type TokenPlace } from '../token.queries.ts';
import type { Actor } from '../token.ts';
import { type AnsweredToken, isAnsweredToken } from '../token-form.ts';
import { discloseRead } from './disclose-read.ts';
import { presentPage } from './present-list.ts';
import { presentUnread } from './present-token.ts';
import { bytesAtOnce, copiesRead, findPageOfIds } from './token-list.queries.ts';

/**
 * A response stored under an idempotency key, as the caller may see it now. A masked or changed token is shown as a
 * read would show it. For a token that is gone or may not be read, only its place remains, and what the caller wrote.
 * Shown data is logged.
 */
export async function presentKept(vault: Vault, actor: Actor, answer: Json): Promise<Json> {
  const kept: AnsweredToken[] = [];
  replaceTokens(answer, actor.tenantId, (token) => {
    kept.push(token);
    return null;
  });
  const ids = [...new Set(kept.map(({ id }) => id))];
  const places = new Map((await findPlaces(vault.db, actor.tenantId, ids)).map((place) => [place.id, place]));
  const showing = new Map(kept.map((token) => [token, showingOf(token, actor, places.get(token.id))]));
  const shown = (how: Showing) => [...new Set(kept.filter((token) => showing.get(token) === how).map(({ id }) => id))];
  // The API answers, not code, so that `use` does not count
  const asKept = shown('as kept').map((id) => ({ id, use: null }));
  await discloseRead(vault, actor, asKept);
  const read = await readData(vault, actor, shown('as read'));
  return replaceTokens(answer, actor.tenantId, (token) => {
    const how = showing.get(token);
    if (how === 'as kept') return token;
    const { data: _, ...others } = token;
    if (how === 'unread') return isOwn(token, actor) ? others : presentGone(token);
    const data = how === 'as read' ? read.get(token.id) : undefined;
    return { ...others, ...(data !== undefined && { data }) };
  });
}

type Showing = 'as kept' | 'as read' | 'without data' | 'unread';

function showingOf(token: AnsweredToken, actor: Actor, place: TokenPlace | undefined): Showing {
  const transform = place && isSame(token, place) && decide(actor, 'token:read', place);
  if (!transform) return 'unread';
  if (token.data === undefined || transform === 'redact') return 'without data';
  return transform === 'reveal' && isUnchanged(token, place) ? 'as kept' : 'as read';
}

/** Another token may have taken the id. A response without the date shows only the token's place. */
function isSame(token: AnsweredToken, place: TokenPlace): boolean {
  return token.created_at === undefined || token.created_at === place.created_at;
}

/** Replaced data must not be shown, like that of a deleted token. */
function isUnchanged(token: AnsweredToken, place: TokenPlace): boolean {
  return (token.modified_at ?? null) === place.modified_at;
}

/** The caller created the token and nobody has changed it, so the response shows only what the caller wrote. */
function isOwn({ created_by, modified_at }: AnsweredToken, actor: Actor): boolean {
  return created_by === actor.id && modified_at === undefined;
}

function presentGone(token: AnsweredToken): JsonObject {
  if (token.created_at === undefined) return token;
  const { modified_by, modified_at } = token;
  return { ...presentUnread(token), ...(modified_by && { modified_by }), ...(modified_at && { modified_at }) };
}

async function readData(vault: Vault, actor: Actor, ids: readonly string[]): Promise<Map<string, Json>> {
  if (ids.length === 0) return new Map();
  await actor.hold?.(copiesRead * bytesAtOnce);
  const { tokens } = await presentPage(vault, actor, await findPageOfIds(vault.db, actor.tenantId, ids));
  return new Map(tokens.flatMap(({ id, data }) => (data === undefined ? [] : [[id, data] as const])));
}

function replaceTokens(answer: Json, tenantId: string, replace: (token: AnsweredToken) => Json): Json {
  if (Array.isArray(answer)) return answer.map((item) => replaceTokens(item, tenantId, replace));
  if (!isObject(answer)) return answer;
  if (isAnsweredToken(answer) && answer.tenant_id === tenantId) return replace(answer);
  return Object.fromEntries(
    Object.entries(answer).map(([member, value]) => [member, replaceTokens(value, tenantId, replace)]),
  );
}
