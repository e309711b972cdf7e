"""How much each memory counts: what reinforces it as rows, and a closed formula over them.

To keep it:   `WeightsProjection.open(place)` (projection), a `Projection` over `weights.db`.
To read it:   `WeightReader.open(folder)` (reading), in any process, while another one writes:

    reader = WeightReader.open(generation_folder)
    weights = reader.weights(ids, at=moment, decay=reader.decay_policy())
    weights[memory_id].ranking_term      # in [0.2, 1]; the other fields say why

To compute it without a store: `weight_of(standing, at=..., decay=...)` (decay).
"""
