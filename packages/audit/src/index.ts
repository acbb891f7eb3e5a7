export { type Disclosure, type DisclosureLog, type DisclosureLogOptions, openDisclosureLog } from './disclosure-log.ts';
export { type Act, type Change, recordChange } from './record-change.ts';
