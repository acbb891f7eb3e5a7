import { transformSettings } from '@sluice/sandbox';
import { httpSettings, readConfig } from '@sluice/service-runtime';

const { HEADER_PREFIX } = httpSettings;

export const compilerConfigFrom = (settings: Record<string, string> = {}) =>
  readConfig({ type: 'object', properties: { ...transformSettings, HEADER_PREFIX } }, settings);
