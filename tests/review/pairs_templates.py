"""Templates of any author before and after a change, each with what `hyperpod review` has to say of it.

A pair is a base and what replaces which of its lines, so that a reader sees the change and nothing else. The base of
most is a small EKS cluster with governance and a budget, written by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

Files: TypeAlias = Mapping[str, str]
"""The text of each template by its name; of a lone template the name says what the user typed."""

Edit: TypeAlias = tuple[str, str]
"""A text that a template has once, and what stands there in the head."""

APP: Final = "app.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A change.

    Attributes:
        base: Templates as they are deployed.
        head: The same as they would be.
        verdict: The worst that happens.
        changes: What happens to what, as `LogicalId.Property`; groups of a cluster as `LogicalId/group`. All of them.
        fails: The words of `--fail-on` that would stop the merge.
        says: What a reader must find in the comment.
        prices: A file for `HYPERPOD_PRICES`; empty without one.
    """

    base: Files
    head: Files
    verdict: str = "unchanged"
    changes: Mapping[str, str] = field(default_factory=dict)
    fails: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    prices: str = ""


def edited(text: str, *edits: Edit) -> str:
    """A text with other parts, each of which must be there once."""
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
        text = text.replace(old, new)
    return text


def _pair(base: str, *edits: Edit, **expected: object) -> Pair:
    """A change of one template."""
    return Pair(base={APP: base}, head={APP: edited(base, *edits)}, **expected)  # type: ignore[arg-type]  # fields of Pair


EKS: Final = """\
Resources:
  Kubernetes:
    Type: AWS::EKS::Cluster
    Properties:
      Name: research
      Version: "1.33"
      RoleArn: arn:aws:iam::111122223333:role/eks
      AccessConfig: {AuthenticationMode: API}
      ResourcesVpcConfig: {SubnetIds: [subnet-0123456789abcdef0, subnet-0fedcba9876543210]}
  TaskGovernance:
    Type: AWS::EKS::Addon
    Properties:
      AddonName: amazon-sagemaker-hyperpod-taskgovernance
      AddonVersion: v1.2.1-eksbuild.1
      ClusterName: !Ref Kubernetes
  Research:
    Type: AWS::SageMaker::Cluster
    Properties:
      ClusterName: research
      NodeProvisioningMode: Continuous
      NodeRecovery: Automatic
      Orchestrator: {Eks: {ClusterArn: !GetAtt Kubernetes.Arn}}
      VpcConfig: {SecurityGroupIds: [sg-0123456789abcdef0], Subnets: [subnet-0123456789abcdef0]}
      InstanceGroups:
        - InstanceGroupName: system
          InstanceType: ml.m5.4xlarge
          InstanceCount: 2
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
          LifeCycleConfig: {SourceS3Uri: s3://sagemaker-research/boot, OnCreate: on_create.sh}
        - InstanceGroupName: p5en
          InstanceType: ml.p5en.48xlarge
          InstanceCount: 17
          ImageReleaseVersion: 1.0.3
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
          LifeCycleConfig: {SourceS3Uri: s3://sagemaker-research/boot, OnCreate: on_create.sh}
          KubernetesConfig: {Taints: [{Key: training, Value: "true", Effect: NoSchedule}]}
  Policy:
    Type: AWS::SageMaker::ClusterSchedulerConfig
    Properties:
      Name: research
      ClusterArn: !Ref Research
      SchedulerConfig: {FairShare: Enabled, PriorityClasses: [{Name: training, Weight: 75}, {Name: trial, Weight: 25}]}
  Pretraining:
    Type: AWS::SageMaker::ComputeQuota
    Properties:
      Name: pretraining
      ClusterArn: !Ref Research
      ComputeQuotaTarget: {TeamName: pretraining, FairShareWeight: 80}
      ComputeQuotaConfig: {ComputeQuotaResources: [{InstanceType: ml.p5en.48xlarge, Count: 12}]}
  Alignment:
    Type: AWS::SageMaker::ComputeQuota
    Properties:
      Name: alignment
      ClusterArn: !Ref Research
      ComputeQuotaTarget: {TeamName: alignment, FairShareWeight: 20}
      ComputeQuotaConfig: {ComputeQuotaResources: [{InstanceType: ml.p5en.48xlarge, Count: 4}]}
"""
"""17 nodes for two teams, of which 16 are given to them and one is spare."""

VISION: Final = """\
  Vision:
    Type: AWS::SageMaker::ComputeQuota
    Properties:
      Name: vision
      ClusterArn: !Ref Research
      ComputeQuotaTarget: {TeamName: vision, FairShareWeight: 10}
      ComputeQuotaConfig: {ComputeQuotaResources: [{InstanceType: ml.p5en.48xlarge, Count: 2}]}
"""

_ADDON: Final = EKS[EKS.index("  TaskGovernance:") : EKS.index("  Research:")]
_OTHER_CLUSTER: Final = "arn:aws:eks:us-west-2:111122223333:cluster/other"

SPOT: Final = """\
        - InstanceGroupName: trials
          InstanceType: ml.g5.8xlarge
          InstanceCount: 8
          CapacityRequirements: {Spot: {}}
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
          LifeCycleConfig: {SourceS3Uri: s3://sagemaker-research/boot, OnCreate: on_create.sh}
"""

KUBERNETES: Final[Mapping[str, Pair]] = {
    "kubernetes-one-up": _pair(
        EKS,
        ('Version: "1.33"', 'Version: "1.34"'),
        verdict="restarts",
        changes={"Kubernetes.Version": "rolling"},
        says=("the control plane is updated", "aws eks list-insights"),
    ),
    "kubernetes-two-up": _pair(
        EKS,
        ('Version: "1.33"', 'Version: "1.35"'),
        verdict="blocked",
        changes={"Kubernetes.Version": "refused"},
        fails=("error",),
        says=("go to 1.34 first",),
    ),
    "kubernetes-down": _pair(
        EKS,
        ('Version: "1.33"', 'Version: "1.32"'),
        verdict="blocked",
        changes={"Kubernetes.Version": "refused"},
        fails=("error",),
        says=("never goes back",),
    ),
    "image-release": _pair(
        EKS,
        ("ImageReleaseVersion: 1.0.3", "ImageReleaseVersion: 1.0.5"),
        verdict="restarts",
        changes={"Research/p5en.InstanceGroups.ImageReleaseVersion": "nodes-rebuilt"},
        says=("does not drain",),
    ),
    "another-eks-cluster": _pair(
        EKS,
        ("{ClusterArn: !GetAtt Kubernetes.Arn}", f"{{ClusterArn: '{_OTHER_CLUSTER}'}}"),
        verdict="blocked",
        changes={"Research.Orchestrator.Eks.ClusterArn": "refused"},
        fails=("error",),
        says=("would get the name of the one that is there",),
    ),
    "eks-role-replaces-the-cluster": _pair(
        EKS,
        ("role/eks\n", "role/eks-2\n"),
        verdict="blocked",
        changes={"Kubernetes.RoleArn": "refused"},
        fails=("error",),
    ),
    "eks-without-a-name-is-replaced": _pair(
        EKS.replace("      Name: research\n      Version", "      Version"),
        ("role/eks\n", "role/eks-2\n"),
        verdict="blocked",
        changes={
            "Kubernetes.RoleArn": "replaced",
            "TaskGovernance.ClusterName": "replaced",
            "Research.Orchestrator.Eks.ClusterArn": "refused",
        },
        fails=("replacement", "error"),
    ),
    "taint-added-that-evicts": _pair(
        EKS,
        ("Effect: NoSchedule}]", "Effect: NoSchedule}, {Key: maintenance, Effect: NoExecute}]"),
        verdict="restarts",
        changes={"Research/p5en.InstanceGroups.KubernetesConfig.Taints": "rolling"},
        says=("write NoSchedule",),
    ),
    "taint-evicts-from-now-on": _pair(
        EKS,
        ("Effect: NoSchedule", "Effect: NoExecute"),
        verdict="restarts",
        changes={"Research/p5en.InstanceGroups.KubernetesConfig.Taints.Effect": "rolling"},
        says=("evicted at once",),
    ),
    "taint-taken-out": _pair(
        EKS,
        ('\n          KubernetesConfig: {Taints: [{Key: training, Value: "true", Effect: NoSchedule}]}', ""),
        verdict="safe",
        changes={"Research/p5en.InstanceGroups.KubernetesConfig": "in-place"},
    ),
    "taint-for-new-pods-only": _pair(
        EKS,
        ("Effect: NoSchedule}]", "Effect: NoSchedule}, {Key: maintenance, Effect: NoSchedule}]"),
        verdict="safe",
        changes={"Research/p5en.InstanceGroups.KubernetesConfig.Taints": "in-place"},
    ),
    "addon-version": _pair(
        EKS,
        ("v1.2.1-eksbuild.1", "v1.3.0-eksbuild.1"),
        verdict="restarts",
        changes={"TaskGovernance.AddonVersion": "rolling"},
        says=("the pods of the add-on start anew",),
    ),
    "addon-removed": _pair(
        EKS,
        (_ADDON, ""),
        verdict="destroys",
        changes={"TaskGovernance": "destroyed"},
    ),
    "spot-group": _pair(
        EKS,
        ("  Policy:\n", f"{SPOT}  Policy:\n"),
        verdict="safe",
        changes={"Research/trials.InstanceGroups": "created"},
        fails=("cost",),
        says=("not priced", "spot"),
    ),
}

GOVERNANCE: Final[Mapping[str, Pair]] = {
    "quota-shifted": _pair(
        EKS,
        ("Count: 12}", "Count: 10}"),
        ("Count: 4}", "Count: 6}"),
        verdict="safe",
        changes={
            "Pretraining.ComputeQuotaConfig.ComputeQuotaResources.Count": "in-place",
            "Alignment.ComputeQuotaConfig.ComputeQuotaResources.Count": "in-place",
        },
        says=("12", "10", "above a lower quota counts as borrowed, which tasks of other teams may preempt"),
    ),
    "team-added": Pair(
        base={APP: EKS},
        head={APP: edited(EKS, ("Count: 12}", "Count: 10}"), ("Weight: 80", "Weight: 70")) + VISION},
        verdict="safe",
        changes={
            "Pretraining.ComputeQuotaConfig.ComputeQuotaResources.Count": "in-place",
            "Pretraining.ComputeQuotaTarget.FairShareWeight": "in-place",
            "Vision": "created",
        },
        says=("Vision",),
    ),
    "team-removed": Pair(
        base={APP: EKS + VISION},
        head={APP: EKS},
        verdict="destroys",
        changes={"Vision": "destroyed"},
    ),
    "quota-renamed": _pair(
        EKS,
        ("Name: alignment\n", "Name: alignment-2027\n"),
        verdict="replaces",
        changes={"Alignment.Name": "replaced"},
        fails=("replacement",),
        says=("deletes the quota before", "Let the tasks that run on it end"),
    ),
    "team-renamed": _pair(
        EKS,
        ("TeamName: alignment", "TeamName: safety"),
        verdict="replaces",
        changes={"Alignment.ComputeQuotaTarget.TeamName": "replaced"},
        fails=("replacement",),
        says=(
            "deletes the quota before it makes the new one",
            "hyperpod-ns-TEAM",
            "what becomes of them without a quota is not documented",
        ),
    ),
    "policy-renamed": _pair(
        EKS,
        ("Name: research\n      ClusterArn", "Name: research-2\n      ClusterArn"),
        verdict="replaces",
        changes={"Policy.Name": "replaced"},
        fails=("replacement",),
        says=("likely refused",),
    ),
    "priorities": _pair(
        EKS,
        ("Weight: 25", "Weight: 50"),
        verdict="safe",
        changes={"Policy.SchedulerConfig.PriorityClasses.Weight": "in-place"},
    ),
}

BUDGET: Final = """\
Resources:
  Monthly:
    Type: AWS::Budgets::Budget
    Properties:
      Budget:
        BudgetName: research
        BudgetType: COST
        TimeUnit: MONTHLY
        BudgetLimit: {Amount: 900000, Unit: USD}
      NotificationsWithSubscribers:
        - Notification: {NotificationType: ACTUAL, ComparisonOperator: GREATER_THAN, Threshold: 80}
          Subscribers: [{SubscriptionType: EMAIL, Address: ml-platform@example.com}]
"""
BUDGET_WITHOUT_NAME: Final = BUDGET.replace("        BudgetName: research\n", "")
BUDGET_AND_CLUSTER: Final = BUDGET + EKS.removeprefix("Resources:\n")

PRICES: Final = """\
{"prices": [{"of": "hyperpod", "region": "us-west-2", "source": "agreement of 2026", "as_of": "2026-11-01",
 "usd": {"ml.p5en.48xlarge": 40.0, "ml.m5.4xlarge": 0.5}}]}
"""

MONEY: Final[Mapping[str, Pair]] = {
    "budget-limit": _pair(
        BUDGET_AND_CLUSTER,
        ("Amount: 900000", "Amount: 1200000"),
        verdict="safe",
        changes={"Monthly.Budget.BudgetLimit.Amount": "in-place"},
        says=("1,200,000 USD",),
    ),
    "budget-notice-with-a-name": _pair(
        BUDGET,
        ("Threshold: 80", "Threshold: 90"),
        verdict="blocked",
        changes={"Monthly.NotificationsWithSubscribers.Notification.Threshold": "refused"},
        fails=("error",),
        says=("leave BudgetName out",),
    ),
    "budget-notice-without-a-name": _pair(
        BUDGET_WITHOUT_NAME,
        ("Threshold: 80", "Threshold: 90"),
        verdict="replaces",
        changes={"Monthly.NotificationsWithSubscribers.Notification.Threshold": "replaced"},
        fails=("replacement",),
    ),
    "budget-removed": Pair(
        base={APP: BUDGET_AND_CLUSTER},
        head={APP: EKS},
        verdict="safe",
        changes={"Monthly": "removed"},
    ),
    "prices-of-the-user": _pair(
        EKS,
        ("InstanceCount: 17", "InstanceCount: 19"),
        verdict="safe",
        changes={"Research/p5en.InstanceGroups.InstanceCount": "in-place"},
        prices=PRICES,
        says=("80.00", "agreement of 2026"),
    ),
}

STORE: Final = """\
Resources:
  Key:
    Type: AWS::KMS::Key
    Properties:
      KeyPolicy:
        Statement: [{Effect: Allow, Principal: {AWS: arn:aws:iam::111122223333:root}, Action: kms:*, Resource: "*"}]
  Accounting:
    Type: AWS::RDS::DBInstance
    DeletionPolicy: Snapshot
    UpdateReplacePolicy: Snapshot
    Properties: {DBInstanceClass: db.t4g.medium, Engine: mariadb, AllocatedStorage: 100, StorageEncrypted: true}
  Metrics:
    Type: AWS::APS::Workspace
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties: {Alias: research}
"""
_KEY: Final = STORE[STORE.index("  Key:") : STORE.index("  Accounting:")]
_ACCOUNTING: Final = STORE[STORE.index("  Accounting:") : STORE.index("  Metrics:")]

DATA: Final[Mapping[str, Pair]] = {
    "key-removed": _pair(
        STORE,
        (_KEY, ""),
        verdict="destroys",
        changes={"Key": "data-lost"},
        fails=("data-loss",),
        says=("the only way to read what it encrypts",),
    ),
    "database-kept-no-more": _pair(
        STORE,
        ("    DeletionPolicy: Snapshot\n", "    DeletionPolicy: Delete\n"),
        verdict="safe",
        changes={"Accounting.DeletionPolicy": "unprotected"},
        fails=("data-loss",),
        says=("the next delete takes the database",),
    ),
    "database-policy-left-out": _pair(
        STORE,
        ("    DeletionPolicy: Snapshot\n    UpdateReplacePolicy: Snapshot\n", ""),
        verdict="safe",
        changes={"Accounting.UpdateReplacePolicy": "unprotected"},
        fails=("data-loss",),
    ),
    "database-removed-with-a-snapshot": _pair(
        STORE,
        (_ACCOUNTING, ""),
        verdict="destroys",
        changes={"Accounting": "left-behind"},
        fails=("data-loss",),
        says=("snapshot",),
    ),
    "database-shrinks": _pair(
        STORE,
        ("AllocatedStorage: 100", "AllocatedStorage: 50"),
        verdict="blocked",
        changes={"Accounting.AllocatedStorage": "refused"},
        fails=("error",),
    ),
    "metrics-workspace-is-replaced": _pair(
        STORE,
        ("{Alias: research}", "{Alias: research, KmsKeyArn: !GetAtt Key.Arn}"),
        verdict="destroys",
        changes={"Metrics.KmsKeyArn": "left-behind"},
        fails=("replacement", "data-loss"),
    ),
}

NETWORK: Final = """\
Resources:
  Nodes:
    Type: AWS::EC2::SecurityGroup
    Properties:
      GroupDescription: nodes
      VpcId: vpc-0123456789abcdef0
      SecurityGroupIngress: [{IpProtocol: tcp, FromPort: 22, ToPort: 22, CidrIp: 10.0.0.0/8}]
  FromItself:
    Type: AWS::EC2::SecurityGroupIngress
    Properties: {GroupId: !GetAtt Nodes.GroupId, SourceSecurityGroupId: !GetAtt Nodes.GroupId, IpProtocol: "-1"}
  ToItself:
    Type: AWS::EC2::SecurityGroupEgress
    Properties: {GroupId: !GetAtt Nodes.GroupId, DestinationSecurityGroupId: !GetAtt Nodes.GroupId, IpProtocol: "-1"}
"""
_INLINE: Final = "      SecurityGroupIngress: [{IpProtocol: tcp, FromPort: 22, ToPort: 22, CidrIp: 10.0.0.0/8}]\n"
_OWN: Final = """\
  Ssh:
    Type: AWS::EC2::SecurityGroupIngress
    Properties: {GroupId: !GetAtt Nodes.GroupId, IpProtocol: tcp, FromPort: 22, ToPort: 22, CidrIp: 10.0.0.0/8}
"""

TRAIN: Final = """\
  Train:
    Type: AWS::SageMaker::Cluster
    Properties:
      ClusterName: train
      NodeProvisioningMode: Continuous
      Orchestrator: {Slurm: {}}
      VpcConfig: {SecurityGroupIds: [!GetAtt Nodes.GroupId], Subnets: [subnet-0123456789abcdef0]}
      InstanceGroups:
        - InstanceGroupName: controller
          InstanceType: ml.m5.4xlarge
          InstanceCount: 1
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
          SlurmConfig: {NodeType: Controller}
        - InstanceGroupName: p5
          InstanceType: ml.p5.48xlarge
          InstanceCount: 4
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
          SlurmConfig: {NodeType: Compute, PartitionNames: [train]}
"""

ROLE: Final = """\
Resources:
  Nodes:
    Type: AWS::IAM::Role
    Properties:
      AssumeRolePolicyDocument:
        Statement: [{Effect: Allow, Principal: {Service: sagemaker.amazonaws.com}, Action: sts:AssumeRole}]
      Policies:
        - PolicyName: data
          PolicyDocument:
            Statement:
              - {Effect: Allow, Action: [s3:GetObject, s3:ListBucket], Resource: "arn:aws:s3:::data*"}
              - {Effect: Allow, Action: "logs:PutLogEvents", Resource: "*"}
"""
_STATEMENTS: Final = ROLE[ROLE.index("              - {Effect") :]
_SHUFFLED: Final = """\
              - {Effect: Allow, Resource: "*", Action: "logs:PutLogEvents"}
              - {Resource: "arn:aws:s3:::data*", Action: [s3:ListBucket, s3:GetObject], Effect: Allow}
"""
_SPLIT: Final = """\
              - {Effect: Allow, Action: s3:GetObject, Resource: "arn:aws:s3:::data*"}
              - {Effect: Allow, Action: s3:ListBucket, Resource: "arn:aws:s3:::data*"}
              - {Effect: Allow, Action: ["logs:PutLogEvents"], Resource: "*"}
"""

OPENINGS: Final[Mapping[str, Pair]] = {
    "rule-becomes-a-resource": Pair(
        base={APP: NETWORK},
        head={APP: edited(NETWORK, (_INLINE, "")) + _OWN},
        verdict="safe",
        changes={"Nodes.SecurityGroupIngress": "in-place", "Ssh": "created"},
    ),
    "rule-opened-to-all": _pair(
        NETWORK,
        ("CidrIp: 10.0.0.0/8", "CidrIp: 0.0.0.0/0"),
        verdict="safe",
        changes={"Nodes.SecurityGroupIngress.CidrIp": "in-place"},
        says=("**Wider**", "0.0.0.0/0"),
    ),
    "rule-to-itself-removed": _pair(
        NETWORK,
        (NETWORK[NETWORK.index("  ToItself") :], ""),
        verdict="safe",
        changes={"ToItself": "removed"},
    ),
    "rule-to-itself-removed-under-a-cluster": _pair(
        NETWORK + TRAIN,
        (NETWORK[NETWORK.index("  ToItself") :], ""),
        verdict="blocked",
        changes={"ToItself": "removed"},
        fails=("error",),
        says=("HP4001",),
    ),
    "security-group-description": _pair(
        NETWORK,
        ("GroupDescription: nodes", "GroupDescription: nodes of research"),
        verdict="replaces",
        changes={
            "Nodes.GroupDescription": "replaced",
            "FromItself.GroupId": "replaced",
            "FromItself.SourceSecurityGroupId": "replaced",
            "ToItself.GroupId": "replaced",
            "ToItself.DestinationSecurityGroupId": "replaced",
        },
        fails=("replacement",),
        says=("leave the description as it is",),
    ),
    "statements-in-another-order": _pair(ROLE, (_STATEMENTS, _SHUFFLED)),
    "statement-split": _pair(
        ROLE,
        (_STATEMENTS, _SPLIT),
        verdict="safe",
        changes={"Nodes.Policies.PolicyDocument.Statement": "in-place"},
    ),
    "role-widened": _pair(
        ROLE,
        ("[s3:GetObject, s3:ListBucket]", '["s3:*"]'),
        verdict="safe",
        changes={"Nodes.Policies.PolicyDocument.Statement.Action": "in-place"},
        says=("may now",),
    ),
}

WRITTEN: Final = """\
Parameters:
  Stage: {Type: String, Default: test}
  Nodes: {Type: Number, Default: 4}
Resources:
  Logs:
    Type: AWS::S3::Bucket
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      BucketEncryption: {ServerSideEncryptionConfiguration: [{BucketKeyEnabled: true}]}
      Tags: [{Key: owner, Value: ml}, {Key: stage, Value: !Ref Stage}]
  Train:
    Type: AWS::SageMaker::Cluster
    Properties:
      ClusterName: train
      NodeProvisioningMode: Continuous
      Orchestrator: {Slurm: {}}
      VpcConfig: {SecurityGroupIds: [sg-0123456789abcdef0], Subnets: [subnet-0123456789abcdef0]}
      InstanceGroups:
        - InstanceGroupName: controller
          InstanceType: ml.m5.4xlarge
          InstanceCount: 1
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
          SlurmConfig: {NodeType: Controller}
        - InstanceGroupName: p5
          InstanceType: ml.p5.48xlarge
          InstanceCount: !Ref Nodes
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
          LifeCycleConfig: {SourceS3Uri: !Sub "s3://${Logs}/boot/test", OnInitComplete: start.sh}
          SlurmConfig: {NodeType: Compute, PartitionNames: [train]}
"""
_SUB: Final = '!Sub "s3://${Logs}/boot/test"'
_BY_JOIN: Final = "!Join ['', ['s3://', !Ref Logs, /boot/, !Ref Stage]]"
_SAME_LOGS: Final = """\
  Logs:
    Properties:
      Tags: [{Value: !Ref Stage, Key: stage}, {Value: ml, Key: owner}]
      BucketEncryption: {ServerSideEncryptionConfiguration: [{BucketKeyEnabled: "true"}]}
    UpdateReplacePolicy: Retain
    DeletionPolicy: Retain
    Type: AWS::S3::Bucket
"""

CUSTOM: Final = """\
Resources:
  Plan:
    Type: Custom::TrainingPlanLookup
    Properties: {ServiceToken: arn:aws:lambda:us-west-2:111122223333:function:plans, Name: frontier}
  Device:
    Type: Acme::Data::Device
    Properties: {Size: 1}
  Alarms: {Type: AWS::SNS::Topic, Properties: {DisplayName: alarms}}
"""
MACRO: Final = "Transform: AcmeCompany\n" + WRITTEN
FOREACH: Final = """\
Transform: AWS::LanguageExtensions
Resources:
  Alarms: {Type: AWS::SNS::Topic, Properties: {DisplayName: alarms}}
  Fn::ForEach::Topics:
    - Team
    - [a, b]
    - Topic${Team}: {Type: AWS::SNS::Topic, Properties: {DisplayName: !Ref Team}}
"""
NESTED: Final = """\
Resources:
  Inner:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: "https://s3.amazonaws.com/acme/inner.yaml", Parameters: {Nodes: "4"}}
"""
CONDITION: Final = """\
Parameters: {Keep: {Type: String, Default: "yes"}}
Conditions: {Kept: !Equals [!Ref Keep, "yes"]}
Resources:
  Alarms: {Type: AWS::SNS::Topic}
  Objects:
    Type: AWS::S3::Bucket
    Condition: Kept
"""

MEANING: Final[Mapping[str, Pair]] = {
    "order-and-notation": _pair(
        WRITTEN,
        (WRITTEN[WRITTEN.index("  Logs:") : WRITTEN.index("  Train:")], _SAME_LOGS),
        (_SUB, _BY_JOIN),
        ("InstanceCount: 1\n", 'InstanceCount: "1"\n'),
        ("InstanceCount: !Ref Nodes", "InstanceCount: !Sub '${Nodes}'"),
    ),
    "literal-in-place-of-a-parameter": _pair(
        WRITTEN, ("InstanceCount: !Ref Nodes", "InstanceCount: 4"), ("Value: !Ref Stage", "Value: test")
    ),
    "default-of-a-parameter": _pair(
        WRITTEN,
        ("Default: 4", "Default: 6"),
        verdict="safe",
        changes={"Train/p5.InstanceGroups.InstanceCount": "in-place"},
        says=("4 → 6",),
    ),
    "macro": _pair(
        MACRO,
        ("Default: 4", "Default: 6"),
        verdict="safe",
        changes={"Train/p5.InstanceGroups.InstanceCount": "in-place"},
        says=("only CloudFormation expands the macro",),
    ),
    "loop": _pair(
        FOREACH,
        ("[a, b]", "[a, b, c]"),
        verdict="restarts",
        fails=("open",),
        changes={"app.yaml": "open"},
        says=("**Not compared**", "make a change set"),
    ),
    "nested-template-is-missing": _pair(
        NESTED,
        ('Nodes: "4"', 'Nodes: "6"'),
        verdict="restarts",
        fails=("open",),
        changes={"Inner.Parameters.Nodes": "open"},
        says=("the template of the nested stack is not at hand",),
    ),
    "custom-resource": _pair(
        CUSTOM,
        ("Name: frontier", "Name: frontier-2"),
        verdict="restarts",
        fails=("open",),
        changes={"Plan.Name": "open"},
        says=("the function behind it decides",),
    ),
    "unknown-type": _pair(
        CUSTOM,
        ("Size: 1", "Size: 2"),
        verdict="restarts",
        fails=("open",),
        changes={"Device.Size": "open"},
        says=("no page that we know",),
    ),
    "other-type": _pair(
        CUSTOM,
        ("AWS::SNS::Topic, Properties: {DisplayName: alarms}", "AWS::SQS::Queue"),
        verdict="blocked",
        changes={"Alarms.Type": "refused"},
        fails=("error",),
        says=("a logical id of its own",),
    ),
    "condition-turns-a-bucket-off": _pair(
        CONDITION,
        ('Default: "yes"', 'Default: "no"'),
        verdict="destroys",
        changes={"Objects": "data-lost"},
        fails=("data-loss",),
        says=("the objects in it",),
    ),
}

AS_JSON: Final = """\
{"Resources": {
  "Ssh": {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": {
    "CidrIp": "10.0.0.0/8", "FromPort": "22", "ToPort": "22", "IpProtocol": "tcp",
    "GroupId": {"Fn::GetAtt": ["Nodes", "GroupId"]}}},
  "Nodes": {"Type": "AWS::EC2::SecurityGroup", "Properties": {
    "VpcId": "vpc-0123456789abcdef0", "GroupDescription": "nodes"}}
}}
"""
AS_YAML: Final = """\
Resources:
  Nodes:
    Type: AWS::EC2::SecurityGroup
    Properties: {GroupDescription: nodes, VpcId: vpc-0123456789abcdef0}
  Ssh:
    Type: AWS::EC2::SecurityGroupIngress
    Properties: {GroupId: !GetAtt Nodes.GroupId, IpProtocol: tcp, FromPort: 22, ToPort: 22, CidrIp: 10.0.0.0/8}
"""
REQUEST: Final = """\
{"ClusterName": "train", "InstanceGroups": [{"InstanceGroupName": "p5", "InstanceType": "ml.p5.48xlarge",
 "InstanceCount": 4, "ExecutionRole": "arn:aws:iam::111122223333:role/nodes",
 "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-b/x", "OnCreate": "on_create.sh"}}]}
"""
SHARED: Final = """\
Resources:
  Network: {Type: AWS::EC2::VPC, Properties: {CidrBlock: 10.0.0.0/16}}
  Subnet: {Type: AWS::EC2::Subnet, Properties: {VpcId: !Ref Network, CidrBlock: 10.0.0.0/24}}
Outputs:
  Subnet: {Value: !Ref Subnet, Export: {Name: nodes}}
"""
USER: Final = """\
Resources:
  Scratch:
    Type: AWS::FSx::FileSystem
    DeletionPolicy: Retain
    UpdateReplacePolicy: Retain
    Properties:
      FileSystemType: LUSTRE
      StorageCapacity: 4800
      SubnetIds: [!ImportValue nodes]
      LustreConfiguration: {DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 500}
"""

FILES: Final[Mapping[str, Pair]] = {
    "yaml-becomes-json": Pair(base={"nodes.yaml": AS_YAML}, head={"nodes.json": AS_JSON}),
    "other-file-name": Pair(
        base={"v1.yaml": AS_YAML},
        head={"v2.yaml": edited(AS_YAML, ("FromPort: 22", "FromPort: 21"))},
        verdict="replaces",
        changes={"Ssh.FromPort": "replaced"},
        fails=("replacement",),
    ),
    "folder-reordered": Pair(
        base={"1-network.yaml": SHARED, "2-user.yaml": USER},
        head={"2-user.yaml": USER, "1-network.yaml": SHARED},
    ),
    "folder-subnet-spreads-over-an-export": Pair(
        base={"network.yaml": SHARED, "user.yaml": USER},
        head={"network.yaml": edited(SHARED, ("CidrBlock: 10.0.0.0/24", "CidrBlock: 10.0.4.0/22")), "user.yaml": USER},
        verdict="blocked",
        changes={
            "Subnet.CidrBlock": "replaced",
            "Subnet.Outputs.Export": "refused",
            "Scratch.SubnetIds": "left-behind",
        },
        fails=("replacement", "data-loss", "error"),
        says=("imports 1 of its values", "Scratch"),
    ),
    "folder-loses-a-template": Pair(
        base={"network.yaml": SHARED, "nodes.yaml": AS_YAML},
        head={"network.yaml": SHARED},
        verdict="safe",
        changes={"nodes.yaml": "stays"},
        says=("not in the app any more",),
    ),
    "create-cluster-request": Pair(
        base={"train.json": REQUEST},
        head={"train.json": edited(REQUEST, ('"InstanceCount": 4', '"InstanceCount": 6'))},
        verdict="restarts",
        fails=("open",),
        changes={"train.json": "open"},
        says=("only templates are compared",),
    ),
    "create-cluster-request-against-itself": Pair(
        base={"train.json": REQUEST},
        head={"train.json": REQUEST},
        says=("only templates are compared",),
    ),
}

PAIRS: Final[Mapping[str, Pair]] = {
    **KUBERNETES,
    **GOVERNANCE,
    **MONEY,
    **DATA,
    **OPENINGS,
    **MEANING,
    **FILES,
}
