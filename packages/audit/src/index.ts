export type { Disclosure } from './disclosure.ts';
export { type DisclosureLog, type DisclosureLogOptions, openDisclosureLog } from './disclosure-log.ts';
export { type DisclosureSettings, disclosureSettings } from './disclosure-settings.ts';
export {
  type ActorType,
  type EntityType,
  entityNames,
  messageOf,
  type Verb,
  type VerbOf,
  verbs,
  writtenVerbs,
} from './log-entry.ts';
export { type Log, type LogRow, logColumns, presentLog, storedOperations } from './present-log.ts';
export { type Act, type Change, recordChange, systemAct } from './record-change.ts';
export { recordClosing } from './record-closing.ts';
export { tenantClosed } from './tenant-closed.ts';
export { unclosedTenants } from './unclosed-tenants.ts';
