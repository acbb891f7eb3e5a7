import { type ConfigSchema, takesFile } from '@sluice/service-runtime';

/** Checks the variables of a process against the configuration schema of its service. */
export function settingFaults(
  environment: Readonly<Record<string, string>>,
  schema: ConfigSchema | undefined,
): string[] {
  if (!schema) return ['has no configuration schema'];
  const given = Object.keys(environment).map((variable) => ({ variable, setting: settingOf(variable, schema) }));
  const unknown = given
    .filter(({ setting }) => setting === undefined)
    .map(({ variable }) => `${variable} is not a setting`);
  const open = given
    .filter(({ variable, setting }) => setting === variable && schema.properties[variable]?.writeOnly)
    .map(({ variable }) => `${variable} is a secret, give ${variable}_FILE`);
  const settings = new Set(given.map(({ setting }) => setting));
  const missing = requiredOf(schema, environment)
    .filter((setting) => !settings.has(setting))
    .map((setting) => `${setting} is missing`);
  return [...unknown, ...open, ...missing];
}

/** Settings that this environment requires. Some are required only if another has a certain value. */
function requiredOf({ required = [], allOf = [] }: ConfigSchema, environment: Record<string, string>): string[] {
  const conditional = allOf.flatMap((condition) => {
    const holds = Object.entries(condition.if.properties).every(([name, value]) => environment[name] === value.const);
    return (holds ? condition.then : condition.else)?.required ?? [];
  });
  return [...required, ...conditional];
}

/** The setting that a variable holds, either directly or as the name of a file. */
function settingOf(variable: string, { properties }: ConfigSchema): string | undefined {
  if (variable in properties) return variable;
  const setting = variable.replace(/_FILE$/, '');
  const schema = properties[setting];
  return setting !== variable && schema && takesFile(schema) ? setting : undefined;
}
