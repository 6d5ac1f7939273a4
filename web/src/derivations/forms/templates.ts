import type { SheetContract, SheetField } from '../../api/contract.ts'

/** A kind of derivation that a new file can begin with. */
export interface KindTemplate {
  readonly kind: string
  readonly name: string
  readonly description: string
  /** Returns the lines after the targets. */
  text(choice: TemplateChoice): string
}

/** The fields that a new derivation connects. */
export interface TemplateChoice {
  readonly targets: readonly string[]
  /** A field that the derivation reads. */
  readonly input: string
}

export const KIND_TEMPLATES: readonly KindTemplate[] = [
  {
    kind: 'sql',
    name: 'Formula',
    description: 'SQL over the fields, without calls',
    text: ({ targets, input }) =>
      targets.length === 1
        ? `kind: sql\nexpression: ${quoted(input)}\n`
        : `kind: sql\nexpression: |\n  SELECT\n${targets.map((target) => `    max(${quoted(input)}) AS ${quoted(target)}`).join(',\n')}\n  FROM records WHERE ${quoted(input)} = :${input}\n`,
  },
  {
    kind: 'http',
    name: 'HTTP request',
    description: 'The response of an API',
    text: ({ targets, input }) =>
      `kind: http\nurl: https://api.example.com/lookup/{{ ${input} }}\n` +
      responseText('response_path', 'response_schema', targets),
  },
  {
    kind: 'ai',
    name: 'AI',
    description: 'A prompt to a model',
    text: ({ input }) => `kind: ai\nmodel: small\nprompt: |\n  ${input}: {{ ${input} }}\n`,
  },
  {
    kind: 'import',
    name: 'Look-up in a file',
    description: 'The matching row of a CSV file',
    text: ({ targets, input }) =>
      `kind: import\nsource: refs/table.csv\nkey_field: key\nmatch: ${input}\n` +
      responseText('value_field', 'value_fields', targets),
  },
  {
    kind: 'cross_sheet',
    name: 'Look-up in a sheet',
    description: 'The matching record of a sheet',
    text: ({ targets, input }) =>
      `kind: cross_sheet\nsource_sheet: ../other-sheet\nkey_field: id\nmatch: ${input}\n` +
      responseText('value_field', 'value_fields', targets),
  },
  {
    kind: 'script',
    name: 'Script',
    description: 'A program in the folder scripts',
    text: ({ targets, input }) =>
      `inputs: [${input}]\nkind: script\nscript: compute\n${targets.length > 1 ? 'output: json\n' : ''}`,
  },
  {
    kind: 'first',
    name: 'Fallbacks',
    description: 'The first of several sources with a value',
    text: ({ targets, input }) =>
      `kind: first\nsteps:\n${['first', 'second']
        .map((source) =>
          itemText(
            `kind: http\nurl: https://${source}.example.com/lookup/{{ ${input} }}\n` +
              responseText('response_path', 'response_schema', targets),
          ),
        )
        .join('')}`,
  },
]

/** Returns lines as an item of a list of a member. */
function itemText(lines: string): string {
  return lines.replaceAll(/^(?=.)/gm, '    ').replace('    ', '  - ')
}

function responseText(one: string, several: string, targets: readonly string[]): string {
  if (targets.length === 1) return `${one}: ${targets[0]}\n`
  return `${several}:\n${targets.map((target) => `  ${target}: ${target}\n`).join('')}`
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name}"`
}

/** Returns the text of a new derivation file. */
export function templateText(template: KindTemplate, choice: TemplateChoice): string {
  return `targets: [${choice.targets.join(', ')}]\n${template.text(choice)}`
}

/** The fields that no derivation computes and one may. */
export function freeFields({ fields }: SheetContract): readonly SheetField[] {
  return fields.filter(({ primaryKey, derived }) => !primaryKey && derived === null)
}

/** Returns a field that a new derivation can read: one that people fill, else the key. */
export function inputFor({ fields }: SheetContract, targets: readonly string[]): string {
  const others = fields.filter(({ name }) => !targets.includes(name))
  const found =
    others.find(({ primaryKey, derived, required }) => !primaryKey && derived === null && required) ??
    others.find(({ primaryKey }) => primaryKey) ??
    others[0]
  return found?.name ?? 'id'
}

/** Returns the name of the file for a field: `country_name` becomes `country-name.yaml`. */
export function fileNameFor(target: string): string {
  return `${target.replaceAll('_', '-').toLowerCase()}.yaml`
}
