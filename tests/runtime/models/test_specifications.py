"""Models that can be named but not opened: they are refused in words that show no key."""

import pytest

from rulewright_runtime.models import ModelError, open_model


@pytest.mark.parametrize("headers", ["secret", ": secret", "X Y: secret", "X-Y: secr\u00e9t", "X-Y:", "Host: secret"])
def test_a_header_that_can_not_be_sent_is_refused_without_showing_it(
    headers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RULEWRIGHT_HEADERS", headers)
    with pytest.raises(ModelError, match="`RULEWRIGHT_HEADERS`") as caught:
        open_model("openai:m@http://127.0.0.1:9/v1")
    assert "secr" not in str(caught.value)


@pytest.mark.parametrize(
    ("added", "reason"),
    [
        ("seed", "`seed` is not a field of a request; expected `NAME=VALUE`"),
        ("=7", "`=7` is not a field of a request"),
        ("seed=7&seed=8", "each name once"),
        ("messages=[]", "`messages` can't be added to a request"),
        ("max_tokens=9", "`max_tokens` can't be added to a request"),
        ('extra={"a": 1, "a": 2}', "the field `extra` of a request is not JSON"),
        ("extra={a: 1}", "the field `extra` of a request is not JSON"),
    ],
)
def test_a_field_that_can_not_be_added_to_requests_is_refused(added: str, reason: str) -> None:
    with pytest.raises(ModelError) as caught:
        open_model(f"openai:m@http://127.0.0.1:9/v1#{added}")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("specification", "reason"),
    [
        ("gpt-5", "unknown model `gpt-5`; did you mean `openai:gpt-5`? expected one of `openai:MODEL"),
        ("replies.jsonl", "did you mean `replay:replies.jsonl`?"),
        ("OpenAI:gpt-5", "did you mean `openai:gpt-5`?"),
        ("open-ai:m@http://localhost:1/v1", "did you mean `openai:m@http://localhost:1/v1`?"),
        ("llama.gguf", "did you mean `local:llama.gguf`?"),
        ("ollama:qwen3:8b", "did you mean `openai:qwen3:8b@http://127.0.0.1:11434/v1`?"),
        ("LM Studio:m", "did you mean `openai:m@http://127.0.0.1:1234/v1`?"),
        ("together_ai:org/m", "did you mean `openai:org/m@https://api.together.xyz/v1`?"),
        ("xai:m", "did you mean `openai:m@https://api.x.ai/v1`?"),
        ("own:m", "a server with OpenAI's interface is `openai:m@http://HOST:PORT/v1`"),
        ("ollama:llama3@http://localhost:1", "did you mean `openai:llama3@http://localhost:1/v1`?"),
        ("vllm:org/m:7b@http://localhost:1/v1", "did you mean `openai:org/m:7b@http://localhost:1/v1`?"),
        ("qwen3:8b@http://localhost:1/v1", "did you mean `openai:qwen3:8b@http://localhost:1/v1`?"),
        ("llama3@http://localhost:1/v1", "did you mean `openai:llama3@http://localhost:1/v1`?"),
        ("http://localhost:1/v1", "did you mean `openai:MODEL@http://localhost:1/v1`?"),
        ("openai:", "unknown model `openai:`"),
        ("openai:m@http://u:p@host/v1", "a base URL must not contain a user"),
        ("openai:m@http://u:p@127.0.0.1:8000/v1", "a base URL must not contain a user"),
        ("openai:http://u:p@host/v1", "a base URL must not contain a user"),
        ("anthropic:m@https://u:p@host", "a base URL must not contain a user"),
        ("http://u:p@host/v1", "a base URL must not contain a user"),
        ("vllm:http://u:p@host:8000", "a base URL must not contain a user"),
        ("openai:m@http://host/v1?key=1", "a base URL must not contain a user"),
        ("openai:m@https://h/openai/deployments/d?api-version=1", "; that of Azure is `https://RESOURCE.openai.azure"),
        ("openai:m@http://", "is not a base URL"),
        ("openai:m@htp://host:8000/v1", "`htp://host:8000/v1` is not a base URL"),
        ("openai:m@http:/host:8000/v1", "`http:/host:8000/v1` is not a base URL"),
        ("openai:m@http://host:8o00/v1", "is not a base URL"),
        ("openai:m@http://[::1/v1", "is not a base URL"),
        ("openai:@http://host/v1", "names no model"),
        ("openai:gpt-5", "needs a key in the environment variable `OPENAI_API_KEY`"),
        ("openai:m@localhost:8000/v1", "has no scheme; did you mean `openai:m@http://localhost:8000/v1`?"),
        ("openai@http://localhost:1/v1", "did you mean `openai:MODEL@http://localhost:1/v1`?"),
        ("anthropic:claude-x", "needs a key in the environment variable `ANTHROPIC_API_KEY`"),
        ("python:os", "names no callable"),
        ("python:own/judge.py:ask", "names a file, not a module; did you mean `python:own.judge:ask`?"),
        ("python:os:no_such", "can't be imported"),
        ("python:os:sep", "is not callable"),
        ("command:", "unknown model `command:`"),
        ("command:'", "can't be split"),
        ("local:none.gguf", "names no file"),
    ],
)
def test_a_model_that_cannot_be_opened_is_refused_with_a_message(
    specification: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError) as caught:
        open_model(specification)
    assert reason in str(caught.value)


@pytest.mark.parametrize("key", ["secret\nX-Other: 1", "secr\u00e9t", "secret\u200b", "secret key", "secret\x7f"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RULEWRIGHT_API_KEY", key)
    with pytest.raises(ModelError) as caught:
        open_model("openai:m@http://127.0.0.1:9/v1")
    assert "`RULEWRIGHT_API_KEY`" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_an_identity_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "mine")
    model = open_model("openai:gpt-5")
    assert "mine" not in repr(model.identity)
    assert model.host == "api.openai.com"
