export interface SchemaFault {
  keyword: string;
  params: Record<string, unknown>;
  message?: string | undefined;
  /** Set where the name of a member is at fault and not its value. */
  propertyName?: string | undefined;
}

const types: Record<string, string> = {
  array: 'an array',
  boolean: 'true or false, without quotes',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

/** Words that follow the path of a member: `name` "must have at most 200 characters". */
export function faultInWords({ propertyName, ...fault }: SchemaFault): string {
  const words = wordsOf(fault);
  return propertyName === undefined ? words : `has a field whose name is not allowed: it ${words}`;
}

function wordsOf({ keyword, params, message }: SchemaFault): string {
  const limit = Number(params.limit);
  switch (keyword) {
    case 'type':
      return `must be ${[params.type]
        .flat()
        .map((type) => types[`${type}`] ?? type)
        .join(' or ')}`;
    case 'enum':
      return `must be one of ${[params.allowedValues].flat().map(String).join(', ')}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `may have at most ${limit} characters`;
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} items`;
    case 'maxItems':
      return `may have at most ${limit} items`;
    case 'minProperties':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} members`;
    case 'maxProperties':
      return `may have at most ${limit} members`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'pattern':
      return `must match the pattern ${params.pattern}`;
    default:
      return message ?? 'is not valid';
  }
}
