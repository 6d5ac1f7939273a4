import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ChangeAnswer, DefinitionChangeAnswer, HistoryAnswer } from '../../src/wire/definition/change.ts'
import type { DerivationListAnswer } from '../../src/wire/definition/derivations.ts'
import type { PreviewAnswer } from '../../src/wire/definition/preview.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { proposeDefinition } from '../../src/sheet/writes/proposals.ts'
import { runCommand } from '../support/run-command.ts'
import type { Ran } from '../support/run-colophon.ts'
import { OFFERS, RATES, writeSheet } from '../support/sheet-fixture.ts'

const RATE = OFFERS.derivations['rate.yaml'] as string
const EDITED = `# Rates of the day\n${RATE}`
const ACTOR = { COLOPHON_ACTOR: 'human:ann' }

function run(args: readonly string[], input = ''): Promise<Ran> {
  return runCommand(args, { input, env: ACTOR })
}

function json({ code, stdout, stderr }: Ran): unknown {
  assert.equal(stderr, '')
  assert.equal(code, 0)
  return JSON.parse(stdout)
}

test('a derivation is tried, written, listed in the history and taken back at the command line', async (t) => {
  const sheet = await writeSheet(t)
  const stub = join(sheet, 'stub.json')
  await writeFile(stub, RATES)
  const draft = join(sheet, 'draft.yaml')
  await writeFile(draft, EDITED)
  const file = join(sheet, 'derivations', 'rate.yaml')

  const options = ['--from', draft, '--stub', stub, '--ids', 'a,c']
  const tried = await run(['derivation', 'preview', sheet, 'rate.yaml', ...options])
  assert.equal(tried.code, 3, 'a record failed')
  assert.deepEqual(
    (JSON.parse(tried.stdout) as PreviewAnswer).records.map(({ record_id: id, outcome }) => [id, outcome]),
    [
      ['a', 'computed'],
      ['c', 'failed'],
    ],
  )
  const set = ['derivation', 'set', sheet, 'rate.yaml', '--from', '-', '--note', 'a comment']
  const plan = json(await run([...set, '--dry-run'], EDITED)) as DefinitionChangeAnswer
  assert.equal(plan.change, null)
  assert.equal(await readFile(file, 'utf8'), RATE)
  const done = json(await run(set, EDITED)) as DefinitionChangeAnswer
  assert.equal(done.change, '1')
  assert.equal(await readFile(file, 'utf8'), EDITED)
  const shown = json(await run(['derivation', 'show', sheet, 'rate.yaml'])) as { text: string }
  assert.equal(shown.text, EDITED)

  const { changes } = json(await run(['history', sheet])) as HistoryAnswer
  assert.deepEqual(
    changes.map(({ id, actor, note }) => [id, actor, note]),
    [['1', 'human:ann', 'a comment']],
  )
  const first = json(await run(['history', sheet, '1'])) as ChangeAnswer
  assert.equal(first.files[0]?.text_before, RATE)
  json(await run(['history', sheet, '1', '--revert']))
  assert.equal(await readFile(file, 'utf8'), RATE)
  json(await run(['derivation', 'remove', sheet, 'rate.yaml', '--yes']))
  assert.deepEqual(json(await run(['derivation', 'list', sheet])), {
    derivations: [],
    models: [],
    secrets: [],
    scripts: false,
  })
})

test('the list of derivations names models, and secrets that this process lacks', async (t) => {
  const files = {
    ...OFFERS.derivations,
    'rate.yaml': `${RATE}headers: {Authorization: 'Bearer {{ env.RATES_KEY }}'}\n`,
  }
  const sheet = await writeSheet(t, { derivations: files })
  await writeFile(
    join(sheet, 'models.yaml'),
    'models:\n  small: {base_url: "https://models.example/v1", model: s, protocol: chat}\n',
  )
  const listed = json(await run(['derivations', sheet])) as DerivationListAnswer
  assert.deepEqual([listed.models, listed.secrets], [['small'], [{ name: 'RATES_KEY', is_set: false }]])
  const { stdout } = await run(['derivation', 'list', sheet, '--format', 'table'])
  assert.match(stdout, /\nmodels: small\nsecrets: RATES_KEY \(not set here\)\n$/)
})

test('a proposed change of the definition is listed, shown with its plan, and accepted', async (t) => {
  const sheet = await writeSheet(t)
  const file = (path: string): string => OFFERS.derivations[path] ?? ''
  const opened = await openSheet(sheet)
  const text = OFFERS.contract.replace('name: currency', 'name: money')
  const keyed = file('rate.yaml')
    .replaceAll('currency', 'money')
    .replace('rates.example', 'other.example')
    .concat("headers: {Authorization: 'Bearer {{ env.RATES_KEY }}'}\n")
  const renamed = new Map([['currency', 'money']])
  const none = { text: undefined, document: undefined, converted: new Map(), confirmed: new Map() }
  const by = { actor: 'agent:writer', note: 'Clearer.' }
  await proposeDefinition(
    opened,
    { ...none, text, renamed, derivations: new Map([['rate.yaml', keyed]]) },
    by,
  )
  const removed = new Map([['rate.yaml', null]])
  await proposeDefinition(opened, { ...none, renamed: new Map(), derivations: removed }, by)
  await opened.close()

  const table = (...args: readonly string[]): Promise<Ran> =>
    run(['proposals', sheet, ...args, '--format', 'table'])
  assert.match((await table()).stdout, /\n +1 +waiting +definition +0 +agent:writer +\S+ +Clearer\.\n$/)
  const shown = (await table('1')).stdout
  assert.match(shown, /^kind +definition$/m)
  assert.doesNotMatch(shown, /record_count/)
  assert.match(shown, /^contract\.yaml:11\n- .*currency.*\n\+ .*money/m)
  assert.match(shown, /^New: host other\.example:443\nNew secrets: RATES_KEY$/m)
  assert.match(shown, /^money: 3 values kept$|^ *money +renamed/m)
  const { plan } = JSON.parse((await run(['proposals', sheet, '1'])).stdout) as {
    plan: { secrets: string[] }
  }
  assert.deepEqual(plan.secrets, ['RATES_KEY'])

  const { stdout } = await table('1', '--accept', '--actor', 'human:ben')
  assert.equal(stdout, 'Proposal 1 accepted: a change of the definition\n')
  assert.equal(await readFile(join(sheet, 'derivations', 'rate.yaml'), 'utf8'), keyed)
  const outdated = (await table('2')).stdout
  assert.match(outdated, /^changed since it was proposed: derivations\/rate\.yaml$/m)
  assert.match(outdated, /^It cannot be accepted: /m)
  const refused = await table('2', '--accept', '--actor', 'human:ben')
  assert.match(
    refused.stderr,
    /^error: proposal 2 cannot be accepted, and nothing was changed: derivations\/rate\.yaml has changed/,
  )
})

test('a computed field is removed together with its derivation, with the number of its values', async (t) => {
  const sheet = await writeSheet(t)
  const remove = ['field', 'remove', sheet, 'rate']
  const refused = await run(remove)
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(
    refused.stderr,
    /"rate" is derived; .*derivations\/rate\.yaml first, or remove that file in the same change; `colophon field remove --derivation`/,
  )
  const stub = join(sheet, 'stub.json')
  await writeFile(stub, RATES)
  await run(['materialize', sheet, '--stub', stub])
  const plan = await run([...remove, '--derivation', '--dry-run'])
  assert.equal(plan.code, 1)
  const { conflicts, fields } = JSON.parse(plan.stdout) as DefinitionChangeAnswer
  assert.match(conflicts[0] ?? '', /confirm that number/)
  const done = json(
    await run([...remove, '--derivation', '--confirm', `${fields[0]?.lost}`]),
  ) as DefinitionChangeAnswer
  assert.deepEqual(
    done.files.map(({ path, after }) => [path, after === null]),
    [
      ['contract.yaml', false],
      ['derivations/rate.yaml', true],
    ],
  )
  json(await run(['history', sheet, '1', '--revert']))
  assert.equal(await readFile(join(sheet, 'derivations', 'rate.yaml'), 'utf8'), RATE)
})

test('changes at the command line that are not possible exit with 1, wrong usage with 2', async (t) => {
  const sheet = await writeSheet(t)
  const cases: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
    [['derivation', 'set', sheet, 'rate.yaml', '--from', '-'], 1, /^error: derivations\/rate\.yaml:1: /],
    [['derivation', 'set', sheet, 'rate.yaml', '--from', '/no/such'], 1, /cannot be read \(ENOENT\)/],
    [['derivation', 'set', sheet, 'rate.yaml'], 2, /--from/],
    [['derivation', 'remove', sheet, 'other.yaml'], 1, /no derivation "other\.yaml"; there are rate\.yaml/],
    [['history', sheet, '7'], 1, /no change "7"/],
    [['history', sheet, '--revert'], 2, /no change is given/],
    [['history', sheet, '1', '--revert', '--confirm', 'size'], 2, /field=number/],
  ]
  for (const [args, code, message] of cases) {
    const { code: found, stderr } = await run(args, 'targets: [rate')
    assert.equal(found, code, stderr)
    assert.match(stderr, message)
  }
})

test('at a terminal a change shows what happens to files and cells', async (t) => {
  const sheet = await writeSheet(t)
  const set = ['derivation', 'set', sheet, 'rate.yaml', '--from', '-', '--format', 'table']
  const { stdout } = await run(set, EDITED)
  assert.match(stdout, /^Change 1 was made:\n {2}changes derivations\/rate\.yaml\n\ntarget +file /)
  assert.match(stdout, /rate +rate\.yaml +changed/)
  assert.match((await run(set, EDITED)).stdout, /^Nothing to change/)
})
