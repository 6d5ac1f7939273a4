/** A member of a derivation file that a form can show and edit. */
export type KindField = {
  readonly key: string
  readonly label: string
  readonly hint?: string
  /** Whether the form shows it only on request. */
  readonly isRare?: boolean
} & (
  | {
      readonly type: 'text'
      /** Placeholders for fields; `env` also allows those for secrets of the server. */
      readonly slots?: 'url' | 'fields' | 'env'
      readonly lines?: boolean
      readonly example?: string
    }
  /** A name in `models.yaml`. */
  | { readonly type: 'model' }
  | { readonly type: 'sql' }
  | { readonly type: 'number'; readonly least: number; readonly unit?: string }
  | { readonly type: 'flag' }
  | { readonly type: 'choice'; readonly options: readonly string[]; readonly usual: string }
  | { readonly type: 'field' }
  | { readonly type: 'fields' }
  | { readonly type: 'headers' }
  /** A column or path for each target; `several` has them by target where there is more than one. */
  | { readonly type: 'mapping'; readonly several: string }
)

const OUTPUT: KindField = {
  type: 'choice',
  key: 'output',
  label: 'Format of the answer',
  options: ['text', 'json'],
  usual: 'text',
}

const LOOKUP: readonly KindField[] = [
  { type: 'text', key: 'key_field', label: 'Key column', hint: 'The column by which a row is found' },
  { type: 'field', key: 'match', label: 'Matching field', hint: 'The field of this sheet with the key' },
  { type: 'mapping', key: 'value_field', several: 'value_fields', label: 'Columns of the table' },
  {
    type: 'choice',
    key: 'when_missing',
    label: 'Where no row has the key',
    options: ['skip', 'null', 'fail'],
    usual: 'skip',
    isRare: true,
  },
]

/** The members that forms show, by kind. */
export const KIND_FIELDS: Readonly<Record<string, readonly KindField[]>> = {
  sql: [{ type: 'sql', key: 'expression', label: 'Formula', hint: 'SQL over the fields of a record' }],
  http: [
    {
      type: 'choice',
      key: 'method',
      label: 'Method',
      options: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      usual: 'GET',
    },
    { type: 'text', key: 'url', label: 'URL', slots: 'url', example: 'https://api.example.com/…' },
    {
      type: 'headers',
      key: 'headers',
      label: 'Headers',
      hint: 'A secret is {{ env.NAME }}, a variable of the server',
    },
    {
      type: 'text',
      key: 'body_template',
      label: 'Body',
      slots: 'fields',
      lines: true,
      hint: 'JSON; not sent with GET',
    },
    { type: 'mapping', key: 'response_path', several: 'response_schema', label: 'Paths in the response' },
    {
      type: 'fields',
      key: 'inputs',
      label: 'Inputs',
      hint: 'Fields whose change makes values stale',
      isRare: true,
    },
  ],
  ai: [
    { type: 'model', key: 'model', label: 'Model', hint: 'A name in models.yaml' },
    { type: 'text', key: 'prompt', label: 'Prompt', slots: 'fields', lines: true },
    {
      type: 'text',
      key: 'system',
      label: 'Instructions',
      lines: true,
      hint: 'The same for all records',
      isRare: true,
    },
    { ...OUTPUT, isRare: true },
    { type: 'number', key: 'max_output_tokens', label: 'Most tokens of an answer', least: 1, isRare: true },
    { type: 'number', key: 'temperature', label: 'Temperature', least: 0, isRare: true },
  ],
  import: [{ type: 'text', key: 'source', label: 'File', example: 'refs/table.csv' }, ...LOOKUP],
  cross_sheet: [{ type: 'text', key: 'source_sheet', label: 'Sheet', example: '../other-sheet' }, ...LOOKUP],
  script: [
    {
      type: 'text',
      key: 'script',
      label: 'Script',
      hint: 'The name of a file in scripts/, without its ending',
    },
    { type: 'fields', key: 'inputs', label: 'Inputs', hint: 'Fields that the script receives' },
    OUTPUT,
    { type: 'number', key: 'timeout', label: 'Time for a record', least: 0.1, unit: 'seconds', isRare: true },
    { type: 'flag', key: 'batch', label: 'One process computes many records', isRare: true },
  ],
  first: [
    {
      type: 'number',
      key: 'max_cost_per_record',
      label: 'Most dollars for a record',
      least: 0,
      isRare: true,
    },
  ],
}

/** The members of a file of any kind, beside its targets and its kind. */
export const COMMON_FIELDS: readonly KindField[] = [
  { type: 'flag', key: 'skip_blank', label: 'Skip records whose inputs are blank', isRare: true },
  {
    type: 'text',
    key: 'retry_failed_after',
    label: 'Retry failed cells after',
    example: '7d',
    isRare: true,
  },
]

/** The condition of a step. */
export const ACCEPT: KindField = {
  type: 'sql',
  key: 'accept',
  label: 'Accept if',
  hint: 'An SQL condition over the values of the step; empty accepts every value',
}

/** Returns the fields of the form of a file, or of a step. */
export function fieldsOfKind(kind: string, isStep: boolean): readonly KindField[] {
  const own = KIND_FIELDS[kind] ?? []
  if (isStep) return [...own, ACCEPT, ...COMMON_FIELDS.filter(({ key }) => key === 'skip_blank')]
  // Steps have it themselves.
  return [...own, ...COMMON_FIELDS.filter(({ key }) => kind !== 'first' || key !== 'skip_blank')]
}
