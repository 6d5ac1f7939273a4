import { Type, type Static } from 'typebox'
import type { DerivationChoices } from '../../sheet/schema/read-choices.ts'
import { actorMember } from '../schema/actor-member.ts'
import { inDocument } from '../schema/openapi-keywords.ts'
import { changeNote } from './change.ts'
import { closedObject } from '../schema/closed-object.ts'

/** A derivation file as parsed. */
export const DerivationAnswer = Type.Object({
  file: Type.String(),
  kind: Type.String(),
  targets: Type.Array(Type.String()),
  inputs: Type.Array(Type.String(), {
    description: 'Fields whose change makes the targets stale, including those used only in placeholders.',
  }),
  hosts: Type.Array(Type.String(), { description: '`host:port` of the hosts that runs call.' }),
  resources: Type.Optional(
    Type.Array(Type.Object({ type: Type.String(), name: Type.String() }), {
      description:
        'Others that runs touch, by `type`: a `file`, another `sheet` or a `process`. Absent when there are none.',
    }),
  ),
  text: Type.String(),
})
export type DerivationAnswer = Static<typeof DerivationAnswer>

/** The derivations: each comes after those that it depends on. */
const DerivationsAnswer = Type.Object({ derivations: Type.Array(DerivationAnswer) })
type DerivationsAnswer = Static<typeof DerivationsAnswer>

/** Response of `GET /api/derivations`, with what further derivations can use. */
export const DerivationListAnswer = Type.Object({
  ...DerivationsAnswer.properties,
  models: Type.Array(Type.String(), { description: 'The names of the models of `models.yaml`.' }),
  secrets: Type.Array(Type.Object({ name: Type.String(), is_set: Type.Boolean() }), {
    description:
      'The environment variables that headers name as `{{ env.NAME }}`, and whether the server has them; never their values.',
  }),
  scripts: Type.Boolean({ description: 'Whether the server runs scripts (`--allow-scripts`).' }),
})
export type DerivationListAnswer = Static<typeof DerivationListAnswer>

/** Converts derivations, and what further ones can use, to the wire format. */
export function toDerivationListAnswer(
  derivations: Parameters<typeof toDerivationsAnswer>[0],
  { models, secrets, scripts }: DerivationChoices,
): DerivationListAnswer {
  return {
    ...toDerivationsAnswer(derivations),
    models: [...models],
    secrets: secrets.map(({ name, isSet }) => ({ name, is_set: isSet })),
    scripts,
  }
}

/** Converts derivations to the wire format. */
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

/** The name of a derivation file, in patterns. */
const FILE_NAME = String.raw`^[^./\\\u0000-\u001f\u007f-\u009f\ufffd][^/\\\u0000-\u001f\u007f-\u009f\ufffd]*\.yaml$`

/** Path of a derivation file. */
export const DerivationFileParams = closedObject({
  file: Type.String({
    description: 'The name of the file in `derivations/`, such as `rate.yaml`.',
    ...inDocument({ pattern: FILE_NAME, maxLength: 200 }),
  }),
})

/** Response of `GET /api/derivations/{file}`. */
export const DerivationFileAnswer = Type.Object({
  file: Type.String(),
  text: Type.String(),
  version: Type.String({ description: 'The SHA-256 of the file, which is also its `ETag`.' }),
})
export type DerivationFileAnswer = Static<typeof DerivationFileAnswer>

/** Body of `PUT /api/derivations/{file}`. */
export const PutDerivationBody = closedObject({
  text: Type.String({ description: 'The whole text of the file.' }),
  note: changeNote,
  actor: Type.Optional(actorMember('The actor who changes the file; the server default when absent.')),
})
