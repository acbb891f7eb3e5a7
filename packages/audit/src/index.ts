export type { Disclosure } from './disclosure.ts';
export { type DisclosureLog, type DisclosureLogOptions, openDisclosureLog } from './disclosure-log.ts';
export { type DisclosureSettings, disclosureSettings } from './disclosure-settings.ts';
export { type Act, type Change, recordChange } from './record-change.ts';
