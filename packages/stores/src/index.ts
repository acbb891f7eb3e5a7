export { openStores, type Stores, storeSettings } from './open-stores.ts';
