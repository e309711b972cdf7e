"""Small search trees as ToolBench's runs leave them, with words of our own."""


def thought(text: str, *children, **fields) -> dict:
    return {"node_type": "Thought", "description": text, "children": list(children), **fields}


def call(tool: str, *children, arguments="{}", observation="fine", code=0, **fields) -> dict:
    """Return an Action with its Action Input, below which *children* stand."""
    given = {"node_type": "Action Input", "description": arguments, "children": list(children)}
    if observation is not None:
        given |= {"observation": observation, "observation_code": code}
    inputs = [{**given, **fields}]
    return {"node_type": "Action", "description": tool, "children": inputs}


def run(*children, query="Which trains leave today?", win=True, final="Two trains.") -> dict:
    root = {"node_type": "Action Input", "description": "", "children": list(children)}
    answer = {"query": query, "final_answer": final, "finish_type": "give_answer"}
    return {
        "win": win,
        "tree": {"size": 1, "tree": root},
        "forward_args": {},
        "answer_generation": answer,
    }


def forked(**how) -> dict:
    left = thought("Ask the yard.", call("yard", pruned=True))
    right = thought("Ask the desk.\nIt is open.", call("desk", finished=True))
    return run(call("timetable", left, right), **how)
