export { type Asked, type FieldsVault, type Prepared, startFieldsVault } from './fields-vault.ts';
export { findBarriers } from './find-barriers.ts';
export type { Violation } from './in-page/report-violations.ts';
export { type OpenPage, openBrowser, type Rendering, renderings, type Seen, type TestBrowser } from './open-browser.ts';
export { type OpenShop, type ShopOptions, type Shops, startShops } from './open-shop.ts';
