import { exported as assert } from './assert.js';

export const exported = assert.strict;
