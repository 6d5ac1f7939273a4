import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Option } from 'commander'
import { serveCommand } from '../../src/cli/commands/serve/serve-command.ts'
import { code, codes, readPage, section, tableOf } from '../support/markdown.ts'

const command = serveCommand()
const options: readonly Option[] = command.createHelp().visibleOptions(command)
const { rows } = tableOf(section(readPage('docs/reference/options.md'), 'colophon serve'), 'Option')

function defaultOf(option: Option): string {
  const value: unknown = option.defaultValueDescription ?? option.defaultValue
  return value === undefined ? 'none' : String(value)
}

test('the option reference lists exactly the options of serve with their defaults', () => {
  const documented = rows.map(([flags, byDefault = '']) => {
    const plain = byDefault.startsWith('`') ? code(byDefault) : byDefault
    return [code(flags), flags === '`-h, --help`' ? 'none' : plain]
  })
  const registered = options.map((option) => [option.flags, defaultOf(option)])
  assert.deepEqual(Object.fromEntries(documented), Object.fromEntries(registered))
  assert.equal(documented.length, registered.length)
})

/** Whether an option takes a text; what it does not take it throws for. */
function takes(option: Option, text: string): boolean {
  try {
    option.parseArg?.(text, undefined as never)
    return true
  } catch {
    return false
  }
}

for (const option of options.filter(({ flags }) => /<(?:number|seconds|MiB)>/.test(flags))) {
  test(`${option.long} accepts exactly the values of the option reference`, () => {
    const text = rows.find(([flags]) => flags === `\`${option.flags}\``)?.[2] ?? ''
    const [, least = '', most = ''] = /\b([\d.]+) to (\d+)\b/.exec(text) ?? []
    assert.ok(takes(option, least) && takes(option, most), `${least} to ${most}`)
    const step = least.includes('.') ? Number(least) / 10 : 1
    assert.ok(!takes(option, String(Number(most) + 1)) && !takes(option, String(Number(least) - step)))
  })
}

test('the log levels are those of the option reference', () => {
  const option = options.find(({ long }) => long === '--log-level')
  const text = rows.find(([flags]) => flags === `\`${option?.flags}\``)?.[2] ?? ''
  assert.deepEqual(codes(text), option?.argChoices)
})
