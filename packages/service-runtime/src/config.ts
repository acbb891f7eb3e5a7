import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';

/** A JSON Schema whose property names are environment variables. `--help` prints `description` and `default`. */
export interface ConfigSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, SettingSchema>>;
  readonly required?: readonly string[];
  readonly allOf?: readonly SettingCondition[];
}

/** An absent setting matches no condition, even if its default would. */
export interface SettingCondition {
  readonly if: {
    readonly properties: Readonly<Record<string, { readonly const: string }>>;
    readonly required: readonly string[];
  };
  readonly then: { readonly required: readonly string[] };
  readonly else?: { readonly required: readonly string[] };
}

export interface SettingSchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean';
  readonly description: string;
  readonly default?: string | number | boolean;
  /** A secret: it is never printed, and may be in a file that `<NAME>_FILE` names. */
  readonly writeOnly?: boolean;
  /** Allows such a file for a setting that is not secret. */
  readonly fromFile?: boolean;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  /** Its port is one, too. `host`: with or without a port. `ports`: a URL that may have several hosts or none. */
  readonly format?: 'url' | 'host' | 'ports';
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

type SettingValue<T extends SettingSchema> = T extends { enum: readonly (infer E)[] }
  ? E
  : T['type'] extends 'boolean'
    ? boolean
    : T['type'] extends 'string'
      ? string
      : number;

export type Config<S extends ConfigSchema> = {
  readonly [K in keyof S['properties']]: S['properties'][K] extends { default: string | number | boolean }
    ? SettingValue<S['properties'][K]>
    : K extends (S['required'] & readonly string[])[number]
      ? SettingValue<S['properties'][K]>
      : SettingValue<S['properties'][K]> | undefined;
};

export class ConfigError extends Error {
  /** EX_CONFIG. */
  readonly exitCode = 78;

  constructor(faults: readonly string[]) {
    super(`The configuration is not usable:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

const ajv = new Ajv({ coerceTypes: true, useDefaults: true, allErrors: true, strict: false })
  .addFormat('url', (text) => URL.canParse(text))
  .addFormat('host', (text) => URL.canParse(`http://${text}`))
  .addFormat('ports', hasPorts);

function hasPorts(url: string): boolean {
  const [, hosts = ''] = /^[^/]*\/\/(?:.*@)?([^/?#]*)/s.exec(url) ?? [];
  return hosts.split(',').every((host) => {
    const [, port = ''] = /:([^:\]]*)$/.exec(host) ?? [];
    return /^\d*$/.test(port) && Number(port) <= 65_535;
  });
}

/**
 * Checks the settings of the schema and freezes them. An empty variable counts as absent.
 * @throws {ConfigError} naming every variable that is missing or wrong, and what is allowed; never a secret's value.
 */
export function readConfig<const S extends ConfigSchema>(schema: S, env: NodeJS.ProcessEnv): Config<S> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(schema.properties)) {
    const value = readSetting(name, setting, env, faults);
    if (value !== undefined && value !== '') values[name] = value;
  }
  const validate = ajv.compile(schema);
  if (!validate(values)) {
    // A failed condition is reported by what it requires.
    const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
    const failed = new Set(
      errors.filter(({ keyword }) => keyword === 'pattern').map(({ instancePath }) => instancePath),
    );
    const told = errors.filter(({ keyword, instancePath }) => keyword !== 'format' || !failed.has(instancePath));
    for (const error of told) faults.push(describeFault(error, schema, values));
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(values) as unknown as Config<S>;
}

export function takesFile({ writeOnly, fromFile }: SettingSchema): boolean {
  return writeOnly === true || fromFile === true;
}

function readSetting(name: string, setting: SettingSchema, env: NodeJS.ProcessEnv, faults: string[]) {
  const file = env[`${name}_FILE`];
  if (!takesFile(setting) || env[name] || !file) return env[name];
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    faults.push(`${name}_FILE: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function describeFault(error: ErrorObject, schema: ConfigSchema, values: Record<string, unknown>): string {
  if (error.keyword === 'required') {
    const name = String(error.params.missingProperty);
    const setting = schema.properties[name];
    return `${name}: is required${setting ? ` (${setting.description})` : ''}`;
  }
  const name = error.instancePath.slice(1);
  const setting = schema.properties[name];
  const allowed = Array.isArray(error.params.allowedValues) ? `: ${error.params.allowedValues.join(', ')}` : '';
  const found = setting?.writeOnly ? '' : `; it is ${withoutPassword(JSON.stringify(values[name]))}`;
  const isPorts = error.keyword === 'format' && error.params.format === 'ports';
  const message = isPorts ? 'its ports must be numbers from 0 to 65535' : error.message;
  return `${name}: ${message}${allowed}${found}${setting ? ` (${setting.description})` : ''}`;
}

/** A URL may hold a password although it is not marked as a secret. */
function withoutPassword(text: string): string {
  return text.replace(/\/\/.*@/s, '//…@');
}

export function describeConfig(schema: ConfigSchema): string {
  const required = new Set(schema.required);
  return Object.entries(schema.properties)
    .map(([name, setting]) => {
      const fallback = required.has(name) ? 'required' : `default ${JSON.stringify(setting.default ?? null)}`;
      return `  ${name.padEnd(28)} ${setting.description} (${fallback}${takesFile(setting) ? `; or ${name}_FILE` : ''})`;
    })
    .join('\n');
}
