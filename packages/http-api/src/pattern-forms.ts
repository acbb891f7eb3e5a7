import { containerForm, containerPattern } from '@sluice/access';
import { pathNameForm, pathNamePattern } from '@sluice/database';
import { tokenUseForms } from '@sluice/vault';

export const emailPattern =
  '^[^\\s@\\p{Cc}\\p{Cf}\\p{Z}]+@(localhost|[\\p{L}\\p{M}\\p{N}-]+(\\.[\\p{L}\\p{M}\\p{N}-]+)+)$';

/** A status, or a class of them. */
export const statusPattern = '^([1-9][0-9][0-9]|[2-5]xx)$';

/** What each pattern of a schema allows, in words that follow the path of the member. */
export const patternForms: Readonly<Record<string, string>> = {
  [containerPattern]: containerForm,
  [pathNamePattern]: pathNameForm,
  [emailPattern]: 'must be an e-mail address, such as ada@example.com',
  [statusPattern]: 'must be a status such as 404, or a class of them: 2xx, 3xx, 4xx or 5xx',
  ...tokenUseForms,
};
