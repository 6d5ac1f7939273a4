import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { initSheet } from '../../src/sheet/lifecycle/init-sheet.ts'
import { ColophonProcess } from '../support/colophon-process.ts'
import { openUntilEnd, recordsOf, scratch } from '../support/init-files.ts'
import { runCommand } from '../support/run-command.ts'
import type { Ran } from '../support/run-colophon.ts'

const CSV = 'Order No,Paid,Total\nA-1,true,1.5\nA-2,false,2\n'

function colophon(...args: readonly string[]): Promise<Ran> {
  return runCommand(args)
}

/** The same with something on its standard input. */
function piped(input: string, ...args: readonly string[]): Promise<Ran> {
  return runCommand(args, { input })
}

suite('colophon init', { concurrency: 2 }, () => {
  test('creates an empty sheet that opens, with a contract to edit and an example', async (t) => {
    const root = await scratch(t)
    const directory = join(root, 'new', 'my sheet')
    const { code, stdout, stderr } = await colophon('init', directory)
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(JSON.parse(stdout), { sheet: directory, records: 0, fields: null, notes: [] })
    const sheet = await openUntilEnd(t, directory)
    const { contract } = await sheet.deriving()
    assert.deepEqual(
      contract.fields.map(({ name }) => name),
      ['id', 'title', 'country', 'country_name'],
    )
    assert.equal(contract.document['id'], 'my sheet')
    assert.match(readFileSync(join(directory, '.gitignore'), 'utf8'), /^sheet\.db\*$/m)
    assert.deepEqual(readdirSync(join(directory, 'derivations')), ['country-name.yaml.example'])
    assert.equal((await colophon('validate', directory)).code, 0)
  })

  test('creates an example derivation that is valid once it is renamed', async (t) => {
    const root = await scratch(t)
    const directory = join(root, 'sheet')
    await colophon('init', directory)
    const folder = join(directory, 'derivations')
    const [name = ''] = readdirSync(folder)
    await writeFile(join(folder, name.replace('.example', '')), readFileSync(join(folder, name)))
    const { stdout, code } = await colophon('validate', directory)
    assert.equal(code, 0, stdout)
  })

  test('creates a sheet from a file, and prints its inferences, as JSON in a pipe and as a table', async (t) => {
    const root = await scratch(t)
    await writeFile(join(root, 'orders.csv'), CSV)
    const [json, table] = await Promise.all([
      colophon('init', join(root, 'one'), '--from', join(root, 'orders.csv'), '--actor', 'human:ann'),
      colophon('init', join(root, 'two'), '--from', join(root, 'orders.csv'), '--format', 'table'),
    ])
    const guessed = 'Guessed: id: used as the key, since "Order No" looks like one\n'
    assert.deepEqual([json.code, json.stderr, table.code, table.stderr], [0, guessed, 0, guessed])
    const report = JSON.parse(json.stdout) as { records: number; fields: { field: string }[] }
    assert.equal(report.records, 2)
    assert.deepEqual(report.fields[0], {
      field: 'id',
      column: 'Order No',
      type: 'string',
      required: true,
      unique: true,
      valid_values: null,
      values: 2,
      doubts: ['used as the key, since "Order No" looks like one'],
    })
    assert.match(table.stdout, /^id +Order No +string +key +used as the key/m)
    assert.match(table.stdout, /^Paid +boolean +required/m)
    assert.match(table.stdout, /is a sheet, with 2 records\./)
    const sheet = await openUntilEnd(t, join(root, 'one'))
    assert.deepEqual(await recordsOf(sheet), [
      { id: 'A-1', Paid: true, Total: 1.5 },
      { id: 'A-2', Paid: false, Total: 2 },
    ])
    const log = readFileSync(join(root, 'one', 'provenance.jsonl'), 'utf8')
    assert.equal((JSON.parse(log) as { actor: string }).actor, 'human:ann')
  })

  test('reads standard input in a given format', async (t) => {
    const root = await scratch(t)
    const done = await piped(
      '{"sku":"a","n":1}\n{"sku":"b"}\n',
      'init',
      join(root, 's'),
      '--from',
      '-',
      '--input-format',
      'ndjson',
    )
    assert.equal(done.code, 0)
    assert.equal((JSON.parse(done.stdout) as { records: number }).records, 2)
    const unnamed = await piped('', 'init', join(root, 'x'), '--from', '-')
    assert.equal(unnamed.code, 2)
    assert.match(unnamed.stderr, /give it with --input-format/)
    assert.ok(!existsSync(join(root, 'x')))
  })

  test('adopts a foreign contract, with its data', async (t) => {
    const root = await scratch(t)
    const contract = join(import.meta.dirname, '..', 'contracts', 'elsewhere-orders.yaml')
    const data = [
      'ord_id,customer-ref,id,total,created_at,lines',
      '7,C-1,CH,9.90,2024-01-01T10:00:00Z,"[{""sku"":""x""}]"',
      '8,C-2,,,,',
    ].join('\n')
    await writeFile(join(root, 'orders.csv'), data)
    const args = ['init', join(root, 's'), '--contract', contract, '--from', join(root, 'orders.csv')]
    const unchosen = await colophon(...args)
    assert.equal(unchosen.code, 1)
    assert.match(unchosen.stderr, /choose it with --schema/)
    const { code, stdout } = await colophon(...args, '--schema', 'orders')
    assert.equal(code, 0)
    assert.deepEqual((JSON.parse(stdout) as { notes: string[] }).notes, [
      'left out the schema entries "customers"',
    ])
    const sheet = await openUntilEnd(t, join(root, 's'))
    const [first, second] = await recordsOf(sheet)
    assert.deepEqual(first, {
      id: '7',
      customer_ref: 'C-1',
      original_id: 'CH',
      total: 9.9,
      created_at: '2024-01-01T10:00:00Z',
      lines: [{ sku: 'x' }],
      mystery: null,
    })
    assert.equal(second?.['id'], '8')
  })

  test('reports data that violates the contract with line and field, and creates nothing', async (t) => {
    const root = await scratch(t)
    const contract = join(import.meta.dirname, '..', 'contracts', 'elsewhere-orders.yaml')
    const attempt = async (text: string): Promise<string> => {
      await writeFile(join(root, 'orders.csv'), text)
      const args = ['--contract', contract, '--schema', 'orders', '--from', join(root, 'orders.csv')]
      const { code, stdout, stderr } = await colophon('init', join(root, 'deep', 's'), ...args)
      assert.deepEqual([code, stdout], [1, ''])
      assert.deepEqual(readdirSync(root), ['orders.csv'])
      return stderr
    }
    assert.match(
      await attempt('order_id,customer-ref,total\n1,a,1\n2,b,cheap\n'),
      /orders\.csv:3, field "total": "cheap" is not a number/,
    )
    assert.match(
      await attempt('order_id,total\n1,1\n'),
      /orders\.csv:2, field "customer_ref": null, but a value is required/,
    )
    assert.match(
      await attempt('order_id,customer-ref,totl\n1,a,1\n'),
      /orders\.csv:2, column "totl": the contract has no such field; was total meant/,
    )
    assert.match(await attempt('order_id,customer-ref\n1,a\n1,b\n'), /record 2: field "id": must be unique/)
    assert.match(
      await attempt('order_id,ord_id,customer-ref\n1,1,a\n'),
      /two columns are the field "id": "order_id" \(an original name of it\) and "ord_id"/,
    )
  })

  test('overwrites nothing, and leaves existing files unchanged', async (t) => {
    const root = await scratch(t)
    const directory = join(root, 'sheet')
    await mkdir(directory)
    await writeFile(join(directory, 'README.md'), 'mine')
    await writeFile(join(directory, '.gitignore'), 'mine too')
    await writeFile(join(root, 'orders.csv'), CSV)
    assert.equal((await colophon('init', directory, '--from', join(root, 'orders.csv'))).code, 0)
    assert.deepEqual(readdirSync(directory).toSorted(), [
      '.gitignore',
      'README.md',
      'contract.yaml',
      'provenance.jsonl',
      'records.jsonl',
      'sheet.db',
      'sheet.db-lock',
    ])
    assert.equal(readFileSync(join(directory, '.gitignore'), 'utf8'), 'mine too')
    const before = readFileSync(join(directory, 'contract.yaml'), 'utf8')
    const again = await colophon('init', directory)
    assert.equal(again.code, 1)
    assert.match(again.stderr, /has a file contract\.yaml already, and nothing is overwritten/)
    assert.equal(readFileSync(join(directory, 'contract.yaml'), 'utf8'), before)
    for (const name of ['derivations', 'records.jsonl', 'provenance.jsonl', 'sheet.db']) {
      const other = join(root, `with-${name}`)
      await mkdir(other)
      await (name === 'derivations' ? mkdir(join(other, name)) : symlink('nowhere', join(other, name)))
      await assert.rejects(initSheet(other, { kind: 'nothing' }), {
        type: 'SheetError',
        message: new RegExp(`has a file ${name} already`),
      })
      assert.deepEqual(readdirSync(other), [name])
    }
    const file = await colophon('init', join(root, 'orders.csv'))
    assert.match(file.stderr, /exists and is not a directory/)
  })

  test('uses an existing empty directory, and keeps it if the sheet cannot be created', async (t) => {
    const root = await scratch(t)
    await writeFile(join(root, 'bad.csv'), 'id,a\n1,"open\n')
    await mkdir(join(root, 'sheet'))
    const { code, stderr } = await colophon('init', join(root, 'sheet'), '--from', join(root, 'bad.csv'))
    assert.equal(code, 1, stderr)
    assert.deepEqual(readdirSync(join(root, 'sheet')), [])
  })

  test('has options for reading a file, and for the type of a column', async (t) => {
    const root = await scratch(t)
    await writeFile(
      join(root, 'data.txt'),
      Buffer.from('Report\nn\xb0\tzip\tx\n1\t8001\tNA\n2\t8002\t5\n', 'latin1'),
    )
    const reading = ['--encoding', 'latin1', '--delimiter', 'tab', '--skip', '1', '--null', 'NA']
    const inferring = ['--type', 'zip=string', '--no-key', '--yes']
    const from = join(root, 'data.txt')
    const { code, stdout } = await colophon(
      'init',
      join(root, 'sheet'),
      '--from',
      from,
      ...reading,
      ...inferring,
    )
    assert.equal(code, 0)
    const { fields } = JSON.parse(stdout) as { fields: { column: string; type: string; values: number }[] }
    assert.deepEqual(
      fields.map(({ column, type, values }) => [column, type, values]),
      [
        [null, 'string', 2],
        ['n°', 'integer', 2],
        ['zip', 'string', 2],
        ['x', 'integer', 1],
      ],
    )
  })

  test('exits with 2 for wrong usage', async (t) => {
    const root = await scratch(t)
    const usages: readonly [args: readonly string[], message: RegExp][] = [
      [[], /missing required argument/],
      [['x', '--from', 'data.doc'], /cannot be told from its name/],
      [['x', '--schema', 'a'], /--schema requires --contract/],
      [['x', '--key', 'a'], /--key requires --from or --contract/],
      [['x', '--input-format', 'csv'], /--input-format requires --from/],
      [['x', '--no-key'], /--no-key requires --from without --contract/],
      [['x', '--encoding', 'utf-8'], /--encoding requires a file of records/],
      [['x', '--from', 'a.zip', '--null', 'NA'], /--null requires a file of records/],
      [
        ['x', '--from', 'a.csv', '--contract', 'c', '--type', 'a=date'],
        /--type requires --from without --contract/,
      ],
      [['x', '--from', 'a.csv', '--type', 'a=money'], /Give a column and one of string/],
      [['x', '--from', 'a.zip', '--key', 'a'], /--key does not apply to an archive/],
      [['x', '--from', 'a.zip', '--contract', 'c'], /--contract does not apply to an archive/],
    ]
    for (const [[directory, ...args], message] of usages) {
      const path = directory === undefined ? [] : [join(root, directory)]
      const { code, stderr, stdout } = await colophon('init', ...path, ...args)
      assert.deepEqual([code, stdout], [2, ''], args.join(' '))
      assert.match(stderr, message)
    }
    const missing = await colophon('init', join(root, 'x'), '--from', join(root, 'none.csv'))
    assert.equal(missing.code, 1)
    assert.deepEqual(readdirSync(root), [])
  })

  test('leaves nothing behind after Ctrl-C', async (t) => {
    const root = await scratch(t)
    const lines = Array.from({ length: 200_000 }, (_, index) => `k${index},${index},text ${index}\n`)
    await writeFile(join(root, 'data.csv'), `id,a,b\n${lines.join('')}`)
    const child = new ColophonProcess(t, ['init', join(root, 'a', 'sheet'), '--from', join(root, 'data.csv')])
    // It has begun when its own directory is there.
    while (!existsSync(join(root, 'a')) || readdirSync(join(root, 'a')).length === 0)
      await new Promise((resolve) => setImmediate(resolve))
    child.kill('SIGINT')
    const { code, stdout, stderr } = await child.end()
    assert.deepEqual([code, stdout], [130, ''])
    assert.match(stderr, /Interrupted; nothing was created/)
    assert.deepEqual(readdirSync(root), ['data.csv'])
  })
})
