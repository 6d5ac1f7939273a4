import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Contract } from '../../contract/contract.ts'
import type { JsonValue } from '../../contract/json/json.ts'
import { ContractError } from '../../errors/service-error.ts'
import type { FormulaStore } from '../../store/formula.ts'
import {
  makesCalls,
  type Derivation,
  type DerivationKind,
  type InputValues,
  type Plan,
  type Resource,
  type RunContext,
  type Source,
} from '../definition/derivation-kind.ts'
import { DEFAULT_HOST_POLICIES } from '../definition/host-policies.ts'
import { refuseCommonMembers } from '../definition/evidence.ts'
import { Limiter } from '../limiter/limiter.ts'
import { hashesOfPlan } from '../hash/hash-of-values.ts'
import { Kinds } from '../kinds.ts'
import { parseDerivation } from '../parse-derivation.ts'
import { renameInDerivation } from '../rename-in-derivation.ts'
import { readSources, sourceOf } from '../read-sources.ts'

/** A kind set up for the common suite, with local substitutes for everything that its example calls. */
export interface KindUnderTest {
  readonly kind: DerivationKind
  /** Other kinds that its example uses; absent for none. */
  readonly others?: readonly DerivationKind[]
  readonly contract: Contract
  /** A derivation file, YAML in block style. */
  readonly file: string
  /** Inputs whose computation succeeds, and its value for every target. */
  readonly good: { readonly inputs: InputValues; readonly values: { readonly [target: string]: JsonValue } }
  /** The content of the files that its example reads, by path; absent for none. */
  readonly sources?: { readonly [path: string]: string }
  /** Computes formulas; absent for kinds that have none. */
  readonly formulas?: FormulaStore
  /** The other sheets that its example looks into, by path; absent for none. */
  readonly sheets?: { readonly [path: string]: Source }
  /** Inputs with another hash and, unless the kind is local, a request that fails at the host. */
  readonly failing: InputValues
  /** Inputs that lack a required value; null for kinds that require none (D22). */
  readonly blocked: { readonly inputs: InputValues; readonly field: string } | null
  close(): Promise<void>
}

/** Registers the tests of every kind. `start` is called anew for each test. */
export function testKind(name: string, start: () => Promise<KindUnderTest>): void {
  const kindTest = (behaviour: string, body: (subject: KindUnderTest) => unknown): void => {
    test(`kind ${name}: ${behaviour}`, async (t) => {
      const subject = await start()
      t.after(() => subject.close())
      await body(subject)
    })
  }

  kindTest('has the name that files use for it', ({ kind }) => assert.equal(kind.name, name))

  kindTest('D20: refuses unknown keys with file and line', async (subject) => {
    const line = subject.file.trimEnd().split('\n').length + 1
    const act = (): unknown => parse(subject, `${subject.file.trimEnd()}\nno_such_key: 1\n`)
    assert.throws(act, ContractError)
    assert.throws(act, new RegExp(`^Error: derivations/example\\.yaml:${line}: .*no_such_key`))
  })

  kindTest('D24: plans the same for the same inputs, whatever the order of their fields', async (subject) => {
    const derivation = await load(subject, subject.file)
    const { inputs } = subject.good
    const reversed = Object.fromEntries(Object.entries(inputs).toReversed())
    // The steps of a plan have functions of their derivations.
    const planned = (of: Derivation, values: InputValues): unknown => ({ ...planOf(of, values), steps: null })
    const first = planned(derivation, inputs)
    assert.deepEqual(planned(derivation, reversed), first)
    assert.deepEqual(planned(await load(subject, subject.file), inputs), first)
    assert.equal(hashOf(derivation, reversed), hashOf(derivation, inputs))
  })

  kindTest('plans without changing the inputs', async (subject) => {
    const inputs = deepFreeze(structuredClone(subject.good.inputs))
    planOf(await load(subject, subject.file), inputs)
    assert.deepEqual(inputs, subject.good.inputs)
  })

  kindTest('H4: another input is another input hash', async (subject) => {
    const derivation = await load(subject, subject.file)
    assert.notEqual(hashOf(derivation, subject.good.inputs), hashOf(derivation, subject.failing))
  })

  kindTest('H4: another byte in the file is another input hash', async (subject) => {
    const edited = await load(subject, `${subject.file.trimEnd()} # edited\n`)
    const hash = hashOf(await load(subject, subject.file), subject.good.inputs)
    // Each step has a hash of its own keys.
    if (subject.kind.stepsOf !== undefined) assert.equal(hashOf(edited, subject.good.inputs), hash)
    else assert.notEqual(hashOf(edited, subject.good.inputs), hash)
  })

  kindTest('estimates the cost of a computation, and never settles more', async (subject) => {
    const derivation = await load(subject, subject.file)
    const estimate = derivation.kind.estimate(planOf(derivation, subject.good.inputs), DEFAULT_HOST_POLICIES)
    assert.ok(estimate === null || estimate >= 0)
    const outcome = await run(derivation, subject.good.inputs, { formulas: subject.formulas })
    assert.ok(outcome.ok)
    const { cost } = outcome.value
    if (cost === undefined || cost === null) return
    assert.ok(cost >= 0 && (estimate === null || cost <= estimate), `${cost} of ${estimate}`)
  })

  kindTest('is refused exactly if one of its resources is', async (subject) => {
    const { resources, refusal } = await load(subject, subject.file)
    assert.equal(refusal, null)
    assert.ok(resources.every((resource) => resource.name !== ''))
    const refused = await load(subject, subject.file, ({ type, name: of }) => `no ${type} ${of}`)
    const [first] = resources
    const isNone = first === undefined || subject.kind.stepsOf !== undefined
    assert.equal(refused.refusal, isNone ? null : `no ${first.type} ${first.name}`)
  })

  kindTest('D22: is blocked if a value that the request needs is null', async (subject) => {
    if (subject.blocked === null) return
    const { inputs, field } = subject.blocked
    const { kind, spec } = await load(subject, subject.file)
    assert.deepEqual(kind.plan(spec, inputs), { outcome: 'blocked', field })
  })

  kindTest(
    'D22, D32: declares the inputs that its requests need, and is blocked if one of them is null',
    async (subject) => {
      const { kind, spec, inputs, requiredInputs } = await load(subject, subject.file)
      if (subject.blocked !== null) assert.ok(requiredInputs.includes(subject.blocked.field))
      for (const field of inputs) {
        const planned = kind.plan(spec, { ...subject.good.inputs, [field]: null })
        assert.equal(planned.outcome === 'blocked', requiredInputs.includes(field), field)
      }
    },
  )

  kindTest('fills every target and nothing else', async (subject) => {
    const derivation = await load(subject, subject.file)
    const outcome = await run(derivation, subject.good.inputs, { formulas: subject.formulas })
    assert.ok(outcome.ok, JSON.stringify(outcome))
    const values = Object.entries(outcome.value.values).map(([target, value]) => {
      assert.ok(value.ok, JSON.stringify(value))
      return [target, value.value]
    })
    assert.deepEqual(Object.fromEntries(values), subject.good.values)
    assert.deepEqual(Object.keys(subject.good.values).toSorted(), derivation.targets.toSorted())
  })

  kindTest(
    'D33: evidence is JSON, and shadows no member that every provenance entry has',
    async (subject) => {
      const derivation = await load(subject, subject.file)
      const outcome = await run(derivation, subject.good.inputs, { formulas: subject.formulas })
      assert.ok(outcome.ok)
      const evidence = { ...planOf(derivation, subject.good.inputs).evidence, ...outcome.value.evidence }
      assert.deepEqual(JSON.parse(JSON.stringify(evidence)), evidence)
      assert.doesNotThrow(() => refuseCommonMembers(name, evidence))
    },
  )

  kindTest(
    'reports once that a call is sent, whatever its result, and not if it is stopped before',
    async (subject) => {
      const derivation = await load(subject, subject.file)
      if (!makesCalls(derivation.kind)) return
      let sent = 0
      const onSent = (): void => void (sent += 1)
      await run(derivation, subject.good.inputs, { onSent })
      assert.equal(sent, 1)
      await run(derivation, subject.failing, { onSent })
      assert.equal(sent, 2)
      const signal = AbortSignal.abort(new Error('stopping'))
      await run(derivation, subject.good.inputs, { onSent, signal }).catch(() => undefined)
      assert.equal(sent, 2)
    },
  )

  kindTest('asks whether a call is needed only after it has returned', async (subject) => {
    const derivation = await load(subject, subject.file)
    if (!makesCalls(derivation.kind)) return
    let hasReturned = false
    const asked: boolean[] = []
    const wanted = (): boolean => {
      asked.push(hasReturned)
      return true
    }
    const outcome = run(derivation, subject.good.inputs, { wanted })
    hasReturned = true
    assert.ok((await outcome).ok)
    assert.ok(asked.every(Boolean))
  })

  kindTest('H7: returns a failure, and does not throw, if the host fails', async (subject) => {
    const derivation = await load(subject, subject.file)
    if (!makesCalls(derivation.kind)) return
    const outcome = await run(derivation, subject.failing)
    assert.ok(!outcome.ok, JSON.stringify(outcome))
    assert.ok('request' in outcome.error)
    assert.equal(outcome.error.request, planOf(derivation, subject.failing).request)
  })

  kindTest('computes in a batch the same values as one by one', async (subject) => {
    const derivation = await load(subject, subject.file)
    const { kind, spec } = derivation
    if (kind.runBatch === undefined) return
    const inputs = [subject.good.inputs, subject.failing, subject.good.inputs]
    const items = inputs.map((each) => ({ plan: planOf(derivation, each), onSent: () => undefined }))
    const { formulas } = subject
    const context = {
      signal: new AbortController().signal,
      policies: DEFAULT_HOST_POLICIES,
      limiter: new Limiter(),
      formulas,
    }
    const alone: unknown[] = []
    for (const each of inputs) alone.push(await run(derivation, each, { formulas }))
    assert.deepEqual(await kind.runBatch(spec, items, context), alone)
  })

  kindTest('edits a file for another name of each of its fields, and back', (subject) => {
    const { file, contract } = subject
    const kinds = new Kinds([subject.kind, ...(subject.others ?? [])], () => null)
    const { targets, inputs } = parse(subject, file)
    for (const from of new Set([...targets, ...inputs])) {
      if (from === 'id') continue
      const to = 'renamed_field'
      const fields = contract.fields.map((field) => (field.name === from ? { ...field, name: to } : field))
      const fieldByName = new Map(fields.map((field) => [field.name, field]))
      const renamed = { ...contract, fields, fieldByName }
      const { text } = renameInDerivation({ file: 'example.yaml', text: file }, { from, to, contract }, kinds)
      const edited = parse({ ...subject, contract: renamed }, text)
      const named = (names: readonly string[]): Set<string> =>
        new Set(names.map((each) => (each === from ? to : each)))
      assert.deepEqual(new Set(edited.targets), named(targets))
      assert.deepEqual(new Set(edited.inputs), named(inputs))
      const back = { from: to, to: from, contract: renamed }
      assert.equal(renameInDerivation({ file: 'example.yaml', text }, back, kinds).text, file)
    }
  })

  kindTest('rejects with the reason of a signal that is aborted', async (subject) => {
    const derivation = await load(subject, subject.file)
    if (!makesCalls(derivation.kind)) return
    await assert.rejects(
      run(derivation, subject.good.inputs, { signal: AbortSignal.abort(new Error('stopping')) }),
      /stopping/,
    )
  })
}

function parse(
  subject: KindUnderTest,
  file: string,
  refusal: (resource: Resource) => string | null = () => null,
): Derivation {
  const read = (path: string): Source => sourceIn(subject, path)
  const source = { file: 'example.yaml', bytes: Buffer.from(file), read }
  return parseDerivation(
    source,
    subject.contract,
    new Kinds([subject.kind, ...(subject.others ?? [])], refusal),
  )
}

/** Parses a file and reads its sources. */
function load(
  subject: KindUnderTest,
  file: string,
  refusal?: (resource: Resource) => string | null,
): Promise<Derivation> {
  return readSources(parse(subject, file, refusal), {
    source: (path) => sourceIn(subject, path),
    otherSheet: (path) => Promise.resolve(subject.sheets?.[path] ?? sourceOf(path, { problem: 'none' })),
  })
}

function sourceIn({ sources = {} }: KindUnderTest, path: string): Source {
  const text = sources[path]
  return sourceOf(path, text === undefined ? { problem: `${path} does not exist` } : Buffer.from(text))
}

function planOf({ kind, spec }: Derivation, inputs: InputValues): Plan {
  const planned = kind.plan(spec, inputs)
  assert.ok(planned.outcome === 'run', JSON.stringify(planned))
  return planned.plan
}

function hashOf(derivation: Derivation, inputs: InputValues): string {
  return hashesOfPlan(derivation, planOf(derivation, inputs), inputs).whole
}

function run(
  derivation: Derivation,
  inputs: InputValues,
  context: Partial<RunContext> = {},
): ReturnType<DerivationKind['run']> {
  const { kind, spec } = derivation
  kind.prepare(spec)
  const whole: RunContext = {
    signal: new AbortController().signal,
    policies: DEFAULT_HOST_POLICIES,
    limiter: new Limiter(),
    onSent: () => undefined,
    wanted: () => Promise.resolve(true),
    stored: Promise.resolve(),
    step: async (step) => {
      const outcome = await step.derivation.kind.run(step.derivation.spec, step.plan, whole)
      const failed = Object.fromEntries(step.derivation.targets.map((target) => [target, outcome as never]))
      const { values, evidence } = outcome.ok ? outcome.value : { values: failed, evidence: {} }
      return {
        outcome: 'computed',
        values,
        evidence,
        receivedAt: null,
        cost: 0,
        tookCall: true,
        isCached: false,
      }
    },
    ...context,
  }
  return kind.run(spec, planOf(derivation, inputs), whole)
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze)
  return value
}
