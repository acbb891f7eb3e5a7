export { ClientStandIn } from './client-stand-in.ts';
export { type CastValues, castDeclared } from './declared-values.ts';
export type { SecretPlace } from './encryption/cipher.ts';
export { raiseIntegrityAlarms } from './encryption/integrity-alarm.ts';
export { IntegrityError } from './encryption/integrity-error.ts';
export { decryptSecret, encryptSecret, type KeyHolder, prepareSecret, type Secret } from './encryption/secrets.ts';
export { requireExactNumbers } from './exact-numbers.ts';
export { evaluateExpression } from './expressions/evaluate-expression.ts';
export { type FilterBudget, filterBudget } from './expressions/filter-budget.ts';
export { type FilterRecord, longestGrown, longestPadding } from './expressions/filter-record.ts';
export { filterRecords } from './expressions/filters.ts';
export { expressionMayGrow, mostTextOf } from './expressions/most-text-of.ts';
export {
  type Expression,
  expressionsOfPiece,
  faultIn,
  InvalidExpression,
  type Literal,
  mayContainExpression,
  parseExpressions,
  readExpressions,
  readExpressionsInPieces,
  type Segment,
} from './expressions/parse-expressions.ts';
export { formatPath } from './expressions/path.ts';
export { addUnfiltered, type PutIn, writeExpression } from './expressions/put-in.ts';
export {
  type ConfigurationExpression,
  parseHeaderText,
  parseRequestHeaders,
  type RequestHeader,
} from './expressions/request-headers.ts';
export { textLengthOf } from './expressions/text-length.ts';
export { toText } from './expressions/to-text.ts';
export { isNestedDeeperThan, type Json, type JsonObject } from './json.ts';
export { destroyTenantKeys, type KeyOwner, type KeyPurpose } from './keys/data-key.queries.ts';
export { DataKeyError } from './keys/data-key-error.ts';
export { cachedDataKeys, type DataKey, type DataKeys, type DataKeysOptions } from './keys/data-keys.ts';
export { type KeyUsage, mostEncryptions, readKeyUsage } from './keys/key-usage.ts';
export type { KeyWrapper, RootKeys, WrappedIn, Wrapping } from './keys/key-wrapper.ts';
export { type KeyWrapperConfig, keyWrapperFrom } from './keys/key-wrapper-from.ts';
export { localKeyWrapper } from './keys/local-key-wrapper.ts';
export { vaultConditions, vaultSettings } from './keys/vault-settings.ts';
export { mergePatch } from './merge-patch.ts';
export {
  type KeyVersionStatus,
  type RootKeyStatus,
  readRootKeyStatus,
  readTenantKeyStatus,
} from './rotation/key-status.ts';
export { listKeyVersions, type RootKeyUse } from './rotation/key-versions.queries.ts';
export type { Reencrypted } from './rotation/reencrypt.ts';
export { type DataKeyRotation, rotateDataKeys } from './rotation/rotate-data-keys.ts';
export { type RootRotation, rotateRootKey } from './rotation/rotate-root-key.ts';
export type { Rotation, RotationEvent, VersionsMade } from './rotation/rotation.ts';
export { searchTokens } from './search/search-tokens.ts';
export { detokenize, detokenizeEach, mostDistinctTokens, type RunInPieces } from './tokenization/detokenize.ts';
export { detokenizeJson, type JsonDocument } from './tokenization/detokenize-json.ts';
export { findInputs, readTokenization, tokenize } from './tokenization/tokenize.ts';
export { type Answering, createToken, createTokens, theOnly } from './tokens/create/create-tokens.ts';
export { type Creation, draftToken } from './tokens/create/draft-tokens.ts';
export type { CreatedToken } from './tokens/create/present-created.ts';
export { tokenInputSchema } from './tokens/create/token-input.schema.ts';
export { type DecryptionBudget, decryptedBytes, mostDecryptedBytes, partOf } from './tokens/decryption-budget.ts';
export { deleteToken } from './tokens/delete-token.ts';
export { answerWithoutCvcs } from './tokens/expiry/answer-without-cvcs.ts';
export {
  type DueKind,
  forgetDue,
  listDueTenants,
  noteDue,
  noteOverlooked,
} from './tokens/expiry/due-tokens.queries.ts';
export { deleteExpiredTokens } from './tokens/expiry/expire-tokens.ts';
export { purgeTokens } from './tokens/expiry/purge-tokens.ts';
export { removeDueCvcs } from './tokens/expiry/remove-cvcs.ts';
export { describeFoundTokens, describeTokens } from './tokens/read/describe-tokens.ts';
export { findToken } from './tokens/read/find-token.ts';
export { presentKept } from './tokens/read/kept-answer.ts';
export { listTokens, type TokenFilter, type TokenPage } from './tokens/read/list-tokens.ts';
export { requireUse, revealForUse } from './tokens/read/reveal-for-use.ts';
export { SeenTokens } from './tokens/read/seen-tokens.ts';
export type { TokenPosition } from './tokens/read/token-list.queries.ts';
export { walkFoundTokens, walkTokens } from './tokens/read/walk-tokens.ts';
export type { Actor, Through, Token } from './tokens/token.ts';
export { isTokenId } from './tokens/token-id.ts';
export { isComparable } from './tokens/update/blind-change.ts';
export { tokenPatchSchema } from './tokens/update/token-patch.schema.ts';
export { type UpdatedToken, updateToken } from './tokens/update/update-token.ts';
export { bindToken } from './tokens/use/bind-token.ts';
export { type FoundBoundToken, findBoundToken } from './tokens/use/bound-token.queries.ts';
export { type Purpose, type PurposeCall, type Refusal, refusedMember, UseRefused } from './tokens/use/purpose.ts';
export { limitedOf, spendUses } from './tokens/use/spend-uses.ts';
export { tokenUseForms, tokenUseSchema } from './tokens/use/token-use.schema.ts';
export type { CountedUses, TokenUse, UseMember } from './tokens/use/token-use.ts';
export { isCardNumber } from './types/checks.ts';
export { type TokenTypeName, tokenTypeNames } from './types/token-types.ts';
export { readTokenUsage, type TokenTypeMetrics, type TokenUsage } from './usage-report.ts';
export { assembleVault, type Vault, type VaultOptions } from './vault.ts';
