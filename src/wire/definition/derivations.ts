import { Type, type Static } from 'typebox'

/** A derivation file, and what it comes to. */
export const DerivationAnswer = Type.Object({
  file: Type.String(),
  kind: Type.String(),
  targets: Type.Array(Type.String()),
  inputs: Type.Array(Type.String(), {
    description: 'Fields whose change makes the targets stale, those that are only in placeholders included.',
  }),
  hosts: Type.Array(Type.String(), { description: '`host:port` of those that runs call.' }),
  resources: Type.Optional(
    Type.Array(Type.Object({ type: Type.String(), name: Type.String() }), {
      description:
        'Others that runs touch, by `type`: a `file`, another `sheet` or a `process`. Absent when there are none.',
    }),
  ),
  text: Type.String(),
})
export type DerivationAnswer = Static<typeof DerivationAnswer>

/** Answer of `GET /api/derivations`: each after those it depends on. */
export const DerivationsAnswer = Type.Object({ derivations: Type.Array(DerivationAnswer) })
export type DerivationsAnswer = Static<typeof DerivationsAnswer>

/** Turns derivations into their wire form. */
export function toDerivationsAnswer(
  derivations: readonly (Pick<DerivationAnswer, 'file' | 'kind' | 'text'> & {
    readonly targets: readonly string[]
    readonly inputs: readonly string[]
    readonly resources: readonly { readonly type: string; readonly name: string }[]
  })[],
): DerivationsAnswer {
  return {
    derivations: derivations.map(({ file, kind, targets, inputs, resources, text }) => {
      const others = resources.filter(({ type }) => type !== 'host')
      return {
        file,
        kind,
        targets: [...targets],
        inputs: [...inputs],
        hosts: resources.filter(({ type }) => type === 'host').map(({ name }) => name),
        ...(others.length > 0 && { resources: others }),
        text,
      }
    }),
  }
}
