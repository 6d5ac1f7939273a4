/** A derivation with the fields that it reads and computes. */
export interface GraphDerivation {
  readonly file: string
  readonly inputs: readonly string[]
  readonly targets: readonly string[]
}

export interface GraphNode {
  readonly kind: 'field' | 'derivation'
  /** The name of the field or the file. */
  readonly name: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface GraphEdge {
  readonly derivation: string
  readonly field: string
  readonly kind: 'input' | 'target'
  /** The points that the edge passes, from left to right. */
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

export interface GraphLayout {
  /** Ordered by layer, then top to bottom. */
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly width: number
  readonly height: number
}

/** The sizes of nodes and gaps in CSS pixels. */
export interface GraphSizes {
  readonly field: number
  /** The height of a derived field. */
  readonly target: number
  readonly derivation: number
  readonly width: number
  readonly gapX: number
  readonly gapY: number
}

/** An item of a layer: a node, or a dummy node where an edge crosses the layer. */
interface Place {
  readonly key: string
  readonly layer: number
  readonly height: number
  readonly node: Pick<GraphNode, 'kind' | 'name'> | null
  readonly before: Place[]
  readonly after: Place[]
  y: number
}

interface Path {
  readonly edge: Omit<GraphEdge, 'points'>
  readonly places: readonly Place[]
}

const SWEEPS = 12
const PASSING = 10

/** Computes a layered layout, left to right, with few crossings. */
export function layOut(derivations: readonly GraphDerivation[], sizes: GraphSizes): GraphLayout {
  const { layers, paths } = buildLayers(derivations, layersOf(derivations), sizes)
  order(layers)
  for (const layer of layers) stack(layer, sizes.gapY)
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0
    for (const layer of isForward ? layers : layers.toReversed()) {
      align(layer, isForward ? 'before' : 'after', sizes.gapY)
    }
  }
  return draw(layers, paths, sizes)
}

/**
 * Returns the layer of each derivation: the length of the longest path to it. Its inputs are in earlier layers, its
 * targets in the next.
 */
export function layersOf(derivations: readonly GraphDerivation[]): ReadonlyMap<string, number> {
  const byTarget = new Map(
    derivations.flatMap((each) => each.targets.map((target) => [target, each] as const)),
  )
  const layers = new Map<string, number>()
  const layerOf = (derivation: GraphDerivation): number => {
    const known = layers.get(derivation.file)
    if (known !== undefined) return known
    // Ends the recursion at a cycle, which the server should have refused.
    layers.set(derivation.file, 1)
    const layer = derivation.inputs.reduce((most, input) => {
      const from = byTarget.get(input)
      return from === undefined ? most : Math.max(most, layerOf(from) + 2)
    }, 1)
    layers.set(derivation.file, layer)
    return layer
  }
  for (const derivation of derivations) layerOf(derivation)
  return layers
}

function buildLayers(
  derivations: readonly GraphDerivation[],
  layerOf: ReadonlyMap<string, number>,
  sizes: GraphSizes,
): { readonly layers: readonly Place[][]; readonly paths: readonly Path[] } {
  const layers: Place[][] = []
  const places = new Map<string, Place>()
  const add = (key: string, layer: number, height: number, node: Place['node']): Place => {
    const place: Place = { key, layer, height, node, before: [], after: [], y: 0 }
    while (layers.length <= layer) layers.push([])
    layers[layer]?.push(place)
    return place
  }
  const placeOnce = (kind: GraphNode['kind'], name: string, layer: number, height: number): Place => {
    const key = `${kind} ${name}`
    const place = places.get(key) ?? add(key, layer, height, { kind, name })
    places.set(key, place)
    return place
  }
  const connect = (from: Place, to: Place): void => {
    from.after.push(to)
    to.before.push(from)
  }
  const layer = ({ file }: GraphDerivation): number => layerOf.get(file) ?? 1

  for (const each of derivations) {
    for (const target of each.targets) placeOnce('field', target, layer(each) + 1, sizes.target)
  }
  const paths: Path[] = []
  for (const each of derivations) {
    const derivation = placeOnce('derivation', each.file, layer(each), sizes.derivation)
    for (const input of each.inputs) {
      const from = placeOnce('field', input, 0, sizes.field)
      const passed = [from]
      for (let at = from.layer + 1; at < derivation.layer; at += 1) {
        passed.push(add(`${from.key} ${derivation.key} ${at}`, at, PASSING, null))
      }
      passed.push(derivation)
      passed.forEach((place, index) => index > 0 && connect(passed[index - 1] ?? place, place))
      paths.push({ edge: { derivation: each.file, field: input, kind: 'input' }, places: passed })
    }
    for (const target of each.targets) {
      const to = placeOnce('field', target, layer(each) + 1, sizes.target)
      connect(derivation, to)
      paths.push({ edge: { derivation: each.file, field: target, kind: 'target' }, places: [derivation, to] })
    }
  }
  return { layers, paths }
}

/**
 * Orders each layer by the mean position of its neighbours, sweeping in both directions; keeps the order with the
 * fewest crossings.
 */
function order(layers: readonly Place[][]): void {
  let best = layers.map((layer) => [...layer])
  let fewest = countCrossings(layers)
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    const isForward = sweep % 2 === 0
    for (const layer of isForward ? layers : layers.toReversed()) sortByNeighbours(layer, layers, isForward)
    const crossings = countCrossings(layers)
    if (crossings >= fewest) continue
    fewest = crossings
    best = layers.map((layer) => [...layer])
  }
  layers.forEach((layer, index) => layer.splice(0, layer.length, ...(best[index] ?? [])))
}

function sortByNeighbours(layer: Place[], layers: readonly Place[][], isForward: boolean): void {
  const position = new Map(
    layers.flatMap((each) =>
      each.map((place, index) => [place, index / Math.max(1, each.length - 1)] as const),
    ),
  )
  const wanted = new Map(
    layer.map((place) => {
      const neighbours = isForward ? place.before : place.after
      const places = neighbours.map((neighbour) => position.get(neighbour) ?? 0)
      return [place, mean(places) ?? position.get(place) ?? 0]
    }),
  )
  layer.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0))
}

function countCrossings(layers: readonly (readonly Place[])[]): number {
  return layers.reduce((crossings, layer, index) => {
    const next = layers[index + 1] ?? []
    const position = new Map(next.map((place, at) => [place, at]))
    return (
      crossings +
      crossingsOf(
        layer.map((place) => place.after.map((to) => position.get(to) ?? 0)),
        next.length,
      )
    )
  }, 0)
}

/**
 * Returns how many edges between two layers cross. `ends` has for each place of the first layer the positions of its
 * neighbours in the second, which has `size` places. Reads each edge twice: counts inversions with a Fenwick tree.
 */
export function crossingsOf(ends: readonly (readonly number[])[], size: number): number {
  const tree = Array<number>(size + 1).fill(0)
  let [crossings, added] = [0, 0]
  for (const positions of ends) {
    for (const position of positions) {
      let atOrBefore = 0
      for (let node = position + 1; node > 0; node -= node & -node) atOrBefore += tree[node] ?? 0
      crossings += added - atOrBefore
    }
    for (const position of positions) {
      for (let node = position + 1; node <= size; node += node & -node) tree[node] = (tree[node] ?? 0) + 1
    }
    added += positions.length
  }
  return crossings
}

function stack(layer: readonly Place[], gap: number): void {
  let y = 0
  for (const place of layer) {
    place.y = y + place.height / 2
    y += place.height + gap
  }
  for (const place of layer) place.y -= y / 2
}

/** Moves the items of a layer as close to the mean position of their neighbours as order and gaps allow. */
function align(layer: readonly Place[], side: 'before' | 'after', gap: number): void {
  // Relative to their offsets in a stack, positions must only not decrease: isotonic regression by pooling
  // adjacent violators.
  let stacked = 0
  const runs: { sum: number; count: number }[] = []
  const offsets = layer.map((place, index) => {
    if (index > 0) stacked += ((layer[index - 1]?.height ?? 0) + place.height) / 2 + gap
    return stacked
  })
  for (const [index, place] of layer.entries()) {
    const wanted = mean(place[side].map(({ y }) => y)) ?? place.y
    runs.push({ sum: wanted - (offsets[index] ?? 0), count: 1 })
    for (;;) {
      const [above, below] = [runs.at(-2), runs.at(-1)]
      if (above === undefined || below === undefined || above.sum / above.count <= below.sum / below.count)
        break
      runs.splice(-2, 2, { sum: above.sum + below.sum, count: above.count + below.count })
    }
  }
  const shifts = runs.flatMap(({ sum, count }) => Array<number>(count).fill(sum / count))
  for (const [index, place] of layer.entries()) place.y = (shifts[index] ?? 0) + (offsets[index] ?? 0)
}

function draw(layers: readonly Place[][], paths: readonly Path[], { width, gapX }: GraphSizes): GraphLayout {
  const places = layers.flat()
  const shift = places.length === 0 ? 0 : -Math.min(...places.map(({ y, height }) => y - height / 2))
  const left = ({ layer }: Place): number => layer * (width + gapX)
  const nodes = places.flatMap((place) =>
    place.node === null
      ? []
      : [
          {
            ...place.node,
            x: left(place),
            y: place.y + shift - place.height / 2,
            width,
            height: place.height,
          },
        ],
  )
  const edges = paths.map(({ edge, places: passed }) => ({
    ...edge,
    points: passed.flatMap((place, index) => {
      const y = place.y + shift
      const [start, end] = [
        { x: left(place), y },
        { x: left(place) + width, y },
      ]
      if (index === 0) return [end]
      return index === passed.length - 1 ? [start] : [start, end]
    }),
  }))
  return {
    nodes,
    edges,
    width: Math.max(0, layers.length * (width + gapX) - gapX),
    height: Math.max(0, ...nodes.map(({ y, height }) => y + height)),
  }
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length
}

/** Returns an edge as an SVG path that is horizontal at each point. */
export function curveOf(points: GraphEdge['points']): string {
  return points
    .map(({ x, y }, index) => {
      const before = points[index - 1]
      if (before === undefined) return `M${round(x)} ${round(y)}`
      const middle = round((before.x + x) / 2)
      return before.y === y
        ? `H${round(x)}`
        : `C${middle} ${round(before.y)} ${middle} ${round(y)} ${round(x)} ${round(y)}`
    })
    .join('')
}

function round(value: number): number {
  return Math.round(value * 2) / 2
}
